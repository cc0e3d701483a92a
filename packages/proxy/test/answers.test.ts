import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { type IncomingMessage, request } from 'node:http'
import { type AddressInfo, createServer } from 'node:net'
import { gzipSync } from 'node:zlib'
import { describe, expect, onTestFinished, test } from 'vitest'
import { startUpstream, startWorld } from './world.ts'

const key = 'sk-live-0123456789'
const mark = '[redacted by skerry: API_KEY]'

interface Answer {
  status: number
  words: string
  headers: IncomingMessage['headers']
  body: Buffer
}

/** Sends a request like curl and S3 clients, which decompress nothing here. Every request carries a secret. */
async function ask(origin: string, method = 'GET', headers: Record<string, string> = {}): Promise<Answer> {
  const sent = request(`${origin}/`, { method, headers: { ...headers, a: '{{skerry:API_KEY}}' }, agent: false })
  sent.end()
  const [answer] = (await once(sent, 'response')) as [IncomingMessage]
  const chunks = await answer.toArray()
  return {
    status: answer.statusCode!,
    words: answer.statusMessage!,
    headers: answer.headers,
    body: Buffer.concat(chunks),
  }
}

const route = (origin: string, more = '') =>
  startWorld(`[[route]]\nprefix = "/"\nupstream = "${origin}"\nallow = ["API_KEY"]\n${more}`, { API_KEY: key })

async function answering(status: number, headers: Record<string, string>, body: string | Buffer = '', more = '') {
  const upstream = await startUpstream((_, response) => response.writeHead(status, headers).end(body))
  const world = await route(upstream.origin, more)
  return { ...world, ask: (method?: string, sent?: Record<string, string>) => ask(world.reverse!, method, sent) }
}

/** An upstream whose answer Node itself would not write. */
async function answeringRaw(text: string) {
  const server = createServer((socket) => socket.on('error', () => {}).once('data', () => socket.end(text, 'latin1')))
  await once(server.listen(0, '127.0.0.1'), 'listening')
  onTestFinished(() => void server.close())
  return route(`http://127.0.0.1:${(server.address() as AddressInfo).port}`)
}

const stored = { 'content-encoding': 'gzip', etag: '"stored"' }

describe('an answer without a body, to a request with a secret', () => {
  test.each<[string, number, Record<string, string>]>([
    ['HEAD', 200, { 'content-length': '12345', 'accept-ranges': 'bytes' }],
    ['HEAD', 200, { 'content-length': '12345', ...stored }],
    ['GET', 304, { etag: '"stored"', 'content-encoding': 'gzip' }],
    ['GET', 304, { etag: '"stored"', 'content-length': '12345' }],
    ['GET', 204, { 'content-encoding': 'gzip' }],
    ['GET', 200, { 'content-length': '0' }],
    ['GET', 200, { 'content-length': '0', 'content-encoding': 'gzip' }],
    ['GET', 200, { 'content-length': '0', 'content-encoding': 'x-unknown' }],
  ])('%s %d with %j keeps its head', async (method, status, headers) => {
    const { ask } = await answering(status, headers)
    const answer = await ask(method)
    expect(answer).toMatchObject({ status, headers })
    expect(answer.body).toHaveLength(0)
  })

  test.each(['gzip', 'br', 'deflate', 'zstd'])(
    'may name the compression %s although there is no body',
    async (coding) => {
      const { ask } = await answering(200, { 'content-encoding': coding, 'transfer-encoding': 'chunked' })
      for (const sent of [{}, { 'accept-encoding': coding }] as Record<string, string>[])
        expect(await ask('GET', sent)).toMatchObject({ status: 200, body: Buffer.alloc(0) })
    },
  )
})

describe('a body that is stored compressed', () => {
  test.each([
    ['short', 100],
    ['longer than the buffer', 3_000_000],
  ])('and is %s arrives byte for byte', async (_, bytes) => {
    const packed = gzipSync(randomBytes(bytes))
    const { ask } = await answering(200, { ...stored, 'content-length': String(packed.length) }, packed)
    const answer = await ask()
    expect(answer.headers).toMatchObject({ ...stored, 'content-length': String(packed.length) })
    expect(answer.body.equals(packed)).toBe(true)
  })

  test('is decompressed for a client that accepts the compression, and its ETag is then weak', async () => {
    const { ask } = await answering(200, stored, gzipSync(`[${key}]`))
    const answer = await ask('GET', { 'accept-encoding': 'br;q=0, gzip;q=0.5' })
    expect([answer.headers['content-encoding'], answer.headers.etag, String(answer.body)]).toEqual([
      undefined,
      'W/"stored"',
      `[${mark}]`,
    ])
  })

  test.each(['identity', 'gzip;q=0', '*;q=0'])('is not decompressed for Accept-Encoding: %s', async (accepted) => {
    const packed = gzipSync('text')
    const { ask } = await answering(200, stored, packed)
    expect((await ask('GET', { 'accept-encoding': accepted })).body.equals(packed)).toBe(true)
  })

  test('is refused if it contains the secret, and the refusal names the secret', async () => {
    const { ask } = await answering(200, stored, gzipSync(`[${key}]`))
    const answer = await ask()
    expect([answer.status, answer.headers['x-skerry-refusal'], answer.headers['x-skerry-secret']]).toEqual([
      502,
      'secret_in_packed',
      'API_KEY',
    ])
  })

  test('is cut off if the secret comes after bytes that have passed', async () => {
    const { reverse } = await answering(
      200,
      stored,
      gzipSync(Buffer.concat([randomBytes(3_000_000), Buffer.from(key)])),
    )
    await expect(ask(reverse!)).rejects.toThrow('aborted')
  })

  test('is refused with a reason if it is damaged', async () => {
    const { ask } = await answering(200, stored, 'no gzip')
    expect(await ask()).toMatchObject({ status: 502, headers: { 'x-skerry-refusal': 'unsearchable' } })
  })

  test.each<[string, number, Record<string, string>]>([
    ['as a range', 206, { ...stored, 'content-range': 'bytes 0-3/100' }],
    ['with an unknown coding', 200, { 'content-encoding': 'x-unknown' }],
  ])('%s is refused with a reason, or passes by a setting', async (_, status, headers) => {
    const first = await answering(status, headers, 'part')
    const refused = await first.ask()
    expect([refused.status, refused.headers['x-skerry-refusal'], String(refused.body)]).toEqual([
      502,
      'unsearchable',
      expect.stringContaining('unsearchable = "pass" in [redaction]'),
    ])
    const second = await answering(status, headers, 'part', '[redaction]\nunsearchable = "pass"')
    expect(await second.ask()).toMatchObject({ status, headers, body: Buffer.from('part') })
  })
})

test('a range keeps its length when a secret in it is replaced', async () => {
  const body = `<${key}>`
  const headers = { 'content-range': `bytes 0-${body.length - 1}/1000`, 'content-length': String(body.length) }
  const { ask } = await answering(206, headers, body)
  expect(await ask()).toMatchObject({ status: 206, headers, body: Buffer.from(`<${mark.slice(0, key.length)}>`) })
})

test('a secret in the reason phrase is replaced, and a header with one in its name is dropped', async () => {
  const { reverse } = await answeringRaw(`HTTP/1.1 200 ${key}\r\n${key}: x\r\nX-Other: y\r\nContent-Length: 0\r\n\r\n`)
  const { words, headers } = await ask(reverse!)
  expect([words, headers['x-other'], key in headers]).toEqual([mark, 'y', false])
})

test('a transfer coding that nobody requested is refused', async () => {
  const packed = gzipSync(key).toString('latin1')
  const chunk = `${packed.length.toString(16)}\r\n${packed}\r\n0\r\n\r\n`
  const { reverse } = await answeringRaw(`HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip, chunked\r\n\r\n${chunk}`)
  expect(await ask(reverse!)).toMatchObject({ status: 502, headers: { 'x-skerry-refusal': 'upstream' } })
})
