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

describe('an upstream that sends a secret back', () => {
  test('is changed in headers and body, and has the length that it is then', async () => {
    const { ask, upstream, warnings } = await echoing({}, `[${key}]`)
    const answer = await ask()
    expect([await answer.text(), answer.headers.get('x-echo'), answer.headers.get('content-length')]).toEqual([
      '[[redacted by skerry: API_KEY]]',
      '<[redacted by skerry: API_KEY]>',
      '31',
    ])
    expect(upstream.got[0]?.headers['accept-encoding']).toBe('identity')
    expect(warnings).toEqual(['127.0.0.1 sent API_KEY back: replaced 2 times'])
  })

  test('is changed as a stream where it is long, and keeps the length that it tells', async () => {
    const filler = 'x'.repeat(100_000)
    const { ask } = await echoing({}, `${filler}${key}${filler}`)
    const answer = await ask()
    expect([await answer.text(), answer.headers.get('content-length')]).toEqual([
      `${filler}${'[redacted by skerry: API_KEY]'.slice(0, key.length)}${filler}`,
      String(200_000 + key.length),
    ])
  })

  test('is cut off where the upstream ends in the middle of it', async () => {
    const { ask } = await echoing({ 'content-length': '1000' }, `[${key}]`)
    await expect(ask().then((answer) => answer.text())).rejects.toThrow()
  })

  test.each(['at once', 'as a stream'])('is changed %s however it writes the secret', async (how) => {
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
    // Around a value in base64, what shares its bits with a neighbour stays.
    expect(forms.filter((form) => told.includes(form))).toEqual([])
    expect(text.split('[redacted by skerry: API_KEY]')).toHaveLength(forms.length + 1)
    expect(answer.headers.getSetCookie()).toEqual([expect.stringContaining('[redacted by skerry: API_KEY]'), 'b=c'])
    expect(told).not.toContain('0123456789')
  })

  test('is read also where it packs what it sends, although it was asked not to', async () => {
    const packed = gzipSync(`[${key}]`)
    const { ask } = await echoing({ 'content-encoding': 'gzip', 'content-length': String(packed.length) }, packed)
    const answer = await ask()
    expect([await answer.text(), answer.headers.get('content-encoding')]).toEqual([
      '[[redacted by skerry: API_KEY]]',
      null,
    ])
  })

  test('is refused where it packs in a way that nobody knows', async () => {
    const { ask } = await echoing({ 'content-encoding': 'x-unknown' }, key)
    const answer = await ask()
    expect([answer.status, (await answer.text()).includes(key)]).toEqual([502, false])
  })

  test('is not waited for once its answer is refused', async () => {
    const { ask, upstream } = await echoing({ 'content-encoding': 'x-unknown' }, Buffer.alloc(10_000_000))
    expect((await ask()).status).toBe(502)
    const open = () => new Promise((done) => upstream.server.getConnections((_, count) => done(count)))
    await expect.poll(open).toBe(0)
  })

  test('ends nothing but the request where its status has words that no answer may have', async () => {
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

  test('is cut off where its answer unpacks without end', async () => {
    const bomb = gzipSync(Buffer.alloc(80 * 1024 * 1024))
    const { ask } = await echoing({ 'content-encoding': 'gzip', 'content-length': String(bomb.length) }, bomb)
    await expect(ask().then((answer) => answer.arrayBuffer())).rejects.toThrow()
  })
})

test('an answer to a request without a secret is not touched, unless all values are to be hidden', async () => {
  const first = await echoing({}, key)
  expect(await (await first.ask('none')).text()).toBe(key)
  const second = await echoing({}, `${key} short`, '[redaction]\nscan = "all"\nplaceholder = "***"')
  expect(await (await second.ask('none')).text()).toBe('*** short')
  const third = await echoing({}, key, '[redaction]\nenabled = false')
  expect(await (await third.ask()).text()).toBe(key)
})

test('a copy of the secrets stands in until the server answers again', async () => {
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

test('a reference that cannot be expanded is no start', async () => {
  const resolved = { ...resolvedOf({}), unexpanded: new Map([['A', new Error('cycle')]]) as never }
  const started = startWorld('[[route]]\nprefix = "/"\nupstream = "http://x"', {}, { resolved })
  await expect(started).rejects.toThrow('cycle')
})
