import { once } from 'node:events'
import { type AddressInfo, createServer } from 'node:net'
import { gzipSync } from 'node:zlib'
import { describe, expect, onTestFinished, test } from 'vitest'
import { resolvedOf, startUpstream, startWorld } from '../test/world.ts'

const key = 'sk-live-0123456789'

async function echoing(headers: Record<string, string>, body: string | Buffer, more = '') {
  const upstream = await startUpstream((_, response) => {
    response.writeHead(200, { 'x-echo': `<${key}>`, 'content-length': String(Buffer.byteLength(body)), ...headers })
    response.end(body)
  })
  const toml = `[[route]]\nprefix = "/"\nupstream = "${upstream.origin}"\nallow = ["API_KEY"]\n${more}`
  const world = await startWorld(toml, { API_KEY: key, SHORT: 'short' })
  const ask = (value = '{{skerry:API_KEY}}') => fetch(`${world.reverse}/`, { headers: { a: value } })
  return { ...world, upstream, ask }
}

describe('an answer that contains a secret', () => {
  test('is redacted in headers and body, and gets its new length', async () => {
    const { ask, upstream, warnings } = await echoing({}, `[${key}]`)
    const answer = await ask()
    expect([await answer.text(), answer.headers.get('x-echo'), answer.headers.get('content-length')]).toEqual([
      '[[redacted by skerry: API_KEY]]',
      '<[redacted by skerry: API_KEY]>',
      '31',
    ])
    expect(upstream.got[0]?.headers['accept-encoding']).toBe('identity')
    expect(warnings).toEqual(['127.0.0.1 sent the value of API_KEY back; the proxy replaced it 2 times'])
  })

  test('is redacted as a stream if it is long, and keeps its length', async () => {
    const filler = 'x'.repeat(100_000)
    const { ask } = await echoing({}, `${filler}${key}${filler}`)
    const answer = await ask()
    expect([await answer.text(), answer.headers.get('content-length')]).toEqual([
      `${filler}${'[redacted by skerry: API_KEY]'.slice(0, key.length)}${filler}`,
      String(200_000 + key.length),
    ])
  })

  test('is cut off if the upstream ends in the middle of it', async () => {
    const { ask } = await echoing({ 'content-length': '1000' }, `[${key}]`)
    await expect(ask().then((answer) => answer.text())).rejects.toThrow()
  })

  test.each(['at once', 'as a stream'])('is redacted %s in every encoding of the secret', async (how) => {
    const value = 'sk/live "0123456789"'
    const forms = [
      ...[
        value,
        encodeURIComponent(value),
        encodeURIComponent(value).toLowerCase(),
        JSON.stringify(value).slice(1, -1),
      ],
      ...[Buffer.from(value).toString('base64'), Buffer.from(`user:${value}`).toString('base64url')],
    ]
    const body = forms.join('|')
    const upstream = await startUpstream((_, response) => {
      const headers = { 'x-echo': encodeURIComponent(value), 'set-cookie': [`a=${forms[4]}`, 'b=c'] }
      response.writeHead(200, how === 'at once' ? { ...headers, 'content-length': String(body.length) } : headers)
      response.end(body)
    })
    const toml = `[[route]]\nprefix = "/"\nupstream = "${upstream.origin}"\nallow = ["API_KEY"]\n`
    const { reverse } = await startWorld(toml, { API_KEY: value })
    const answer = await fetch(`${reverse}/`, { headers: { a: '{{skerry:API_KEY}}' } })
    const text = await answer.text()
    const told = `${text}\n${[...answer.headers].join('\n')}`
    // Around a value in base64, characters that share bits with a neighbour stay.
    expect(forms.filter((form) => told.includes(form))).toEqual([])
    expect(text.split('[redacted by skerry: API_KEY]')).toHaveLength(forms.length + 1)
    expect(answer.headers.getSetCookie()).toEqual([expect.stringContaining('[redacted by skerry: API_KEY]'), 'b=c'])
    expect(told).not.toContain('0123456789')
  })

  test('is redacted also if the upstream compresses it without being asked to', async () => {
    const packed = gzipSync(`[${key}]`)
    const { ask } = await echoing({ 'content-encoding': 'gzip', 'content-length': String(packed.length) }, packed)
    const answer = await ask()
    expect([await answer.text(), answer.headers.get('content-encoding')]).toEqual([
      '[[redacted by skerry: API_KEY]]',
      null,
    ])
  })

  test('is refused if its compression is unknown', async () => {
    const { ask } = await echoing({ 'content-encoding': 'x-unknown' }, key)
    const answer = await ask()
    expect([answer.status, (await answer.text()).includes(key)]).toEqual([502, false])
  })

  test('is not read further once it is refused', async () => {
    const { ask, upstream } = await echoing({ 'content-encoding': 'x-unknown' }, Buffer.alloc(10_000_000))
    expect((await ask()).status).toBe(502)
    const open = () => new Promise((done) => upstream.server.getConnections((_, count) => done(count)))
    await expect.poll(open).toBe(0)
  })

  test('fails only its own request if its status text is invalid', async () => {
    const words = 'HTTP/1.1 200 O\x01K\r\nContent-Length: 2\r\n\r\nok'
    const server = createServer((socket) => socket.on('error', () => {}).once('data', () => socket.end(words)))
    await once(server.listen(0, '127.0.0.1'), 'listening')
    onTestFinished(() => void server.close())
    const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
    const { reverse } = await startWorld(`[[route]]\nprefix = "/"\nupstream = "${origin}"\nallow = ["API_KEY"]`, {
      API_KEY: key,
    })
    for (const a of ['none', '{{skerry:API_KEY}}']) {
      const answer = await fetch(`${reverse}/`, { headers: { a } })
      expect([answer.status, answer.statusText]).toEqual([502, 'Bad Gateway'])
    }
  })

  test('is cut off if it decompresses without end', async () => {
    const bomb = gzipSync(Buffer.alloc(80 * 1024 * 1024))
    const { ask } = await echoing({ 'content-encoding': 'gzip', 'content-length': String(bomb.length) }, bomb)
    await expect(ask().then((answer) => answer.arrayBuffer())).rejects.toThrow()
  })
})

test('an answer to a request without a secret stays unchanged, unless the settings redact all values', async () => {
  const first = await echoing({}, key)
  expect(await (await first.ask('none')).text()).toBe(key)
  const second = await echoing({}, `${key} short`, '[redaction]\nscan = "all"\nplaceholder = "***"')
  expect(await (await second.ask('none')).text()).toBe('*** short')
  const third = await echoing({}, key, '[redaction]\nenabled = false')
  expect(await (await third.ask()).text()).toBe(key)
})

test('a cached copy of the secrets is used until the server answers again', async () => {
  const upstream = await startUpstream()
  let isAway = true
  const { ask, secrets } = await (async () => {
    const resolved = { ...resolvedOf({ API_KEY: 'kept-value' }), stale: true }
    const world = await startWorld(
      `[[route]]\nprefix = "/"\nupstream = "${upstream.origin}"\nallow = ["API_KEY"]\n[redaction]\nenabled = false\n[cache]\nreconnect_interval = 1`,
      {},
      { resolved, resolve: async () => (isAway ? resolved : resolvedOf({ API_KEY: 'new-value' })) },
    )
    const ask = async () => {
      await fetch(`${world.reverse}/`, { headers: { a: '{{skerry:API_KEY}}' } })
      return upstream.got.at(-1)?.headers.a
    }
    return { ask, secrets: world }
  })()
  expect(await ask()).toBe('kept-value')
  isAway = false
  await expect.poll(ask).toBe('new-value')
  expect(secrets.warnings).toEqual([])
})

test('the proxy does not start with a reference that cannot be expanded', async () => {
  const resolved = { ...resolvedOf({}), unexpanded: new Map([['A', new Error('cycle')]]) as never }
  const started = startWorld('[[route]]\nprefix = "/"\nupstream = "http://x"', {}, { resolved })
  await expect(started).rejects.toThrow('cycle')
})
