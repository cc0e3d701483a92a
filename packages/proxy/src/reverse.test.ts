import { once } from 'node:events'
import { type IncomingMessage, request } from 'node:http'
import { pipeline, Readable } from 'node:stream'
import { describe, expect, onTestFinished, test } from 'vitest'
import { run } from '../test/curl.ts'
import { raw, startUpstream, startWorld } from '../test/world.ts'

const key = 'sk-live-0123456789'

async function routed(
  more = 'allow = ["API_KEY"]',
  values: Record<string, string> = { API_KEY: key, OTHER: 'other-value' },
) {
  const upstream = await startUpstream()
  const world = await startWorld(`[[route]]\nprefix = "/api"\nupstream = "${upstream.origin}"\n${more}`, values)
  const ask = (path: string, init?: RequestInit) => fetch(`${world.reverse}${path}`, init)
  return { ...world, upstream, ask }
}

test('headers that override the method or path are sent only without a secret, or if the settings write them', async () => {
  const sent = { 'X-HTTP-Method-Override': 'DELETE', 'x-original-url': '/admin', 'X-Rewrite-URL': '/admin', b: 'c' }
  const names = ['x-http-method-override', 'x-original-url', 'x-rewrite-url']
  const seen = async (more: string, a: string) => {
    const { ask, upstream } = await routed(`allow = ["API_KEY"]\n${more}`)
    await ask('/api/v1', { headers: { ...sent, a } })
    expect(upstream.got[0]?.headers.b).toBe('c')
    return names.map((name) => upstream.got[0]?.headers[name])
  }
  expect(await seen('', 'plain')).toEqual(['DELETE', '/admin', '/admin'])
  expect(await seen('', '{{skerry:API_KEY}}')).toEqual([undefined, undefined, undefined])
  const own = 'headers = { x-http-method-override = "PATCH" }'
  expect(await seen(own, '{{skerry:API_KEY}}')).toEqual(['PATCH', undefined, undefined])
})

describe('the places where a rule fills placeholders', () => {
  const inPath = ['/api/{{skerry:API_KEY}}', {}] as const
  const inQuery = ['/api?k={{skerry:API_KEY}}', {}] as const
  const inHeader = ['/api', { headers: { a: '{{skerry:API_KEY}}' } }] as const
  const inBasic = ['/api', { headers: { authorization: `Basic ${btoa('u:{{skerry:API_KEY}}')}` } }] as const

  test('are all places unless the settings name some', async () => {
    const body = ['/api', { method: 'POST', body: 'k={{skerry:API_KEY}}' }] as const
    const all = [inPath, inQuery, inHeader, inBasic, body]
    const statuses = async (more: string) => {
      const { ask, upstream } = await routed(`allow = ["API_KEY"]\n${more}`)
      const found: (number | string)[] = []
      for (const [path, init] of all) {
        const answer = await ask(path, init)
        found.push(answer.headers.get('x-skerry-refusal') ?? answer.status)
      }
      return [...found, JSON.stringify(upstream.got).split(key).length - 1 + (upstream.got.at(-1)?.body ?? '')]
    }
    expect((await statuses('')).slice(0, -1)).toEqual([200, 200, 200, 200, 200])
    // A body that is not filled in is not read either, so a marker in it stays text.
    const text = 'k={{skerry:API_KEY}}'
    expect(await statuses('in = ["header"]')).toEqual(['denied', 'denied', 200, 200, 200, `2${text}`])
    expect(await statuses('in = ["path"]')).toEqual([200, 'denied', 'denied', 'denied', 200, `1${text}`])
    expect(await statuses('in = []')).toEqual(['denied', 'denied', 'denied', 'denied', 200, `0${text}`])
  })

  test('do not affect the headers that the settings write', async () => {
    const { ask, upstream } = await routed('allow = ["API_KEY"]\nin = []\nheaders = { b = "{{skerry:API_KEY}}" }')
    expect((await ask('/api')).status).toBe(200)
    expect(upstream.got[0]?.headers.b).toBe(key)
    expect((await ask(...inHeader)).status).toBe(403)
  })
})

/** Sends a body in chunks, and continues while an answer comes. */
async function upload(url: string, chunks: string[]) {
  const sent = request(url, { method: 'POST', agent: false })
  pipeline(Readable.from(chunks), sent, () => {})
  const [answer] = (await once(sent, 'response')) as [IncomingMessage]
  return [answer.statusCode, Buffer.concat(await answer.toArray()).toString()]
}

describe('a body', () => {
  test.each(['allow = []', 'allow = ["API_KEY"]\nin = ["header"]'])('streams without a limit with %j', async (more) => {
    const upstream = await startUpstream((_, response) => response.end())
    const rule = `[[route]]\nprefix = "/"\nupstream = "${upstream.origin}"\n${more}`
    const { reverse } = await startWorld(`max_request_body_bytes = 10\n${rule}`, { API_KEY: key })
    const body = 'x'.repeat(3_000_000)
    expect((await fetch(`${reverse}/`, { method: 'POST', body })).status).toBe(200)
    await upload(`${reverse}/`, [body, 'y'])
    expect(upstream.got.map(({ body: { length } }) => length)).toEqual([3_000_000, 3_000_001])
    expect(upstream.got.map(({ headers }) => headers['content-length'])).toEqual(['3000000', undefined])
  })

  const tooLarge =
    'skerry-proxy: the body is larger than 2097152 bytes, and the proxy reads it whole because the rule allows placeholders in it; with in = ["header"] it can be larger\n'

  test('above the limit is refused, and the client reads the reason although it is still sending', async () => {
    const { reverse } = await routed()
    expect(await upload(`${reverse}/api`, Array(64).fill('x'.repeat(1_000_000)))).toEqual([413, tooLarge])
  })

  test.each([
    ['with a length', { 'content-length': '3000000' }, 1],
    ['in chunks', {}, 3_000_000],
  ])('above the limit that is sent %s is refused before its end, with the reason', async (_, headers, bytes) => {
    const { reverse, upstream } = await routed()
    const sent = request(`${reverse}/api`, { method: 'POST', agent: false, headers })
    onTestFinished(() => void sent.destroy())
    sent.write('x'.repeat(bytes))
    // The end is never sent: a proxy that waits for it does not answer.
    const [answer] = (await once(sent, 'response', { signal: AbortSignal.timeout(30_000) })) as [IncomingMessage]
    expect([answer.statusCode, answer.headers['x-skerry-refusal']]).toEqual([413, 'body_too_large'])
    expect(Buffer.concat(await answer.toArray()).toString()).toBe(tooLarge)
    expect(upstream.got).toEqual([])
  })
})

test('the head of an answer may have 60 kB, and a longer one is refused with a reason', async () => {
  const asked = async (bytes: number) => {
    const upstream = await startUpstream((_, response) => response.setHeader('a', 'x'.repeat(bytes)).end('fine'))
    const { reverse } = await startWorld(`[[route]]\nprefix = "/"\nupstream = "${upstream.origin}"`)
    return (await run('curl', ['-sS', '-w', '%{http_code}', `${reverse}/`])).stdout
  }
  expect(await asked(60_000)).toBe('fine200')
  expect(await asked(70_000)).toBe('skerry-proxy: the headers of the answer are longer than 64 KiB\n502')
})

describe('a placeholder is filled in', () => {
  test('in a header, in both spellings', async () => {
    const { ask, upstream } = await routed()
    const headers = { authorization: 'Bearer {{skerry:API_KEY}}', 'x-other': '{{seekrit:API_KEY}}!' }
    expect((await ask('/api/v1/items', { headers })).status).toBe(200)
    expect(upstream.got[0]).toMatchObject({
      url: '/v1/items',
      headers: { authorization: `Bearer ${key}`, 'x-other': `${key}!`, host: new URL(upstream.origin).host },
    })
  })

  test('in a path and a query, however the client encodes the braces', async () => {
    const { ask, upstream } = await routed(undefined, { API_KEY: 'a b/c?d&é' })
    await ask('/api/{{skerry:API_KEY}}/x?k={{skerry:API_KEY}}&l=%7B%7Bskerry%3AAPI_KEY%7D%7D')
    expect(upstream.got[0]?.url).toBe('/a%20b%2Fc%3Fd%26%C3%A9/x?k=a%20b/c?d&%C3%A9&l=a%20b/c?d&%C3%A9')
  })

  test.each([
    ['1/admin', '1%2Fadmin'],
    ['1%2fadmin', '1%252fadmin'],
    ['1?admin#admin', '1%3Fadmin%23admin'],
    ['1\\admin;admin', '1%5Cadmin%3Badmin'],
    ['123:AAH-_.~@', '123:AAH-_.~@'],
  ])('in a path, where the value %s stays in its segment', async (value, sent) => {
    const { ask, upstream } = await routed('allow = ["API_KEY"]\npaths = ["/v1/*/open"]', { API_KEY: value })
    expect((await ask('/api/v1/{{skerry:API_KEY}}/open')).status).toBe(200)
    expect(upstream.got.map(({ url }) => url)).toEqual([`/v1/${sent}/open`])
  })

  test('in a body, also across two chunks, encoded for the type of the body', async () => {
    const { upstream, reverse } = await routed(undefined, { API_KEY: 'a"b\nc&d' })
    const { host } = new URL(reverse!)
    const post = (type: string, ...chunks: string[]) =>
      raw(reverse!, [
        `POST /api/ HTTP/1.1\r\nHost: ${host}\r\nConnection: close\r\nContent-Type: ${type}\r\nTransfer-Encoding: chunked\r\n\r\n`,
        ...chunks.map((chunk) => `${chunk.length.toString(16)}\r\n${chunk}\r\n`),
        '0\r\n\r\n',
      ])
    await post('text/plain', 'x {{sker', 'ry:API_', 'KEY}} y')
    await post('application/json; charset=utf-8', '{"k":"{{skerry:API_KEY}}"}')
    await post('application/x-www-form-urlencoded', 'k=%7B%7Bskerry%3AAPI_KEY%7D%7D&l={{skerry:API_KEY}}')
    expect(upstream.got.map(({ body }) => body)).toEqual([
      'x a"b\nc&d y',
      '{"k":"a\\"b\\nc&d"}',
      'k=a%22b%0Ac%26d&l=a%22b%0Ac%26d',
    ])
    expect(upstream.got[0]?.headers['content-length']).toBe('11')
  })

  test('in a user name and password, which clients send in base64', async () => {
    const { ask, upstream } = await routed()
    const basic = (text: string) => `Basic ${Buffer.from(text).toString('base64')}`
    await ask('/api', { headers: { authorization: basic('git:{{skerry:API_KEY}}') } })
    expect(upstream.got[0]).toMatchObject({ url: '/', headers: { authorization: basic(`git:${key}`) } })
  })

  test('in a header of the route, which replaces the header of the client', async () => {
    const { ask, upstream } = await routed(
      'allow = ["API_KEY"]\nheaders = { authorization = "Bearer {{skerry:API_KEY}}" }',
    )
    await ask('/api', { headers: { authorization: 'Bearer mine' } })
    expect(upstream.got[0]?.headers.authorization).toBe(`Bearer ${key}`)
  })
})

test('headers of the connection, the ticket and the host are not passed on, and repeated headers stay separate', async () => {
  const { reverse, upstream } = await routed()
  await raw(
    reverse!,
    'GET /api/x HTTP/1.1\r\nHost: a\r\nConnection: close, X-Hop\r\nX-Hop: 1\r\nTE: gzip\r\nProxy-Authorization: x\r\nA: 1\r\nA: 2\r\n\r\n',
  )
  expect(
    upstream.got[0]?.rawHeaders
      .map((one) => one.toLowerCase())
      .filter((_, at) => at % 2 === 0)
      .sort(),
  ).toEqual(['a', 'a', 'connection', 'host'])
})

describe('the proxy refuses, and sends nothing for,', () => {
  test.each([
    ['/api', { authorization: '{{skerry:OTHER}}' }, 403, 'denied', 'OTHER'],
    ['/api', { authorization: '{{skerry:MISSING}}' }, 403, 'denied', 'MISSING'],
    ['/api?{{skerry:OTHER}}', {}, 403, 'denied', 'OTHER'],
    ['/else', {}, 404, 'no_route', null],
    ['/apiother', {}, 404, 'no_route', null],
    ['/api', { 'sec-fetch-site': 'cross-site' }, 400, 'bad_request', null],
    ['/api', { 'x-skerry-ticket': 'skp_unknown' }, 403, 'policy_unavailable', null],
    ['/api', { 'x-skerry-ticket': 'skd_x' }, 403, 'policy_unavailable', null],
    ['/api', { 'x-skerry-ticket': 'a', 'x-seekrit-ticket': 'b' }, 400, 'bad_request', null],
  ])('%s with %j', async (path, headers, status, reason, secret) => {
    const { ask, upstream } = await routed()
    const answer = await ask(path, { headers: headers as Record<string, string> })
    expect(answer.status).toBe(status)
    expect(await answer.text()).toMatch(/^skerry-proxy: .+\n$/)
    for (const name of ['skerry', 'seekrit']) {
      expect(answer.headers.get(`x-${name}-refusal`)).toBe(reason)
      expect(answer.headers.get(`x-${name}-secret`)).toBe(secret)
    }
    expect(upstream.got).toEqual([])
  })

  test('a permitted name that does not exist, with another reason than for a name that is not permitted', async () => {
    const { ask } = await routed('allow = ["MISSING"]')
    const answer = await ask('/api', { headers: { a: '{{skerry:MISSING}}' } })
    expect([answer.status, answer.headers.get('x-seekrit-refusal')]).toEqual([403, 'unresolved'])
  })

  test('a method or path that the rule does not permit', async () => {
    const { ask } = await routed('allow = ["API_KEY"]\nmethods = ["GET"]\npaths = ["/v1/**"]')
    const reasons = async (path: string, method = 'GET') =>
      (await ask(path, { method })).headers.get('x-skerry-refusal')
    expect(await reasons('/api/v1/a')).toBeNull()
    expect(await reasons('/api/v1/a', 'DELETE')).toBe('method_not_allowed')
    expect(await reasons('/api/v2')).toBe('path_not_allowed')
    for (const path of ['%2e%2e/admin', '..;/admin', '%252e%252e/admin', '..%00/admin', '%c0%ae%c0%ae/admin'])
      expect(await reasons(`/api/v1/${path}`)).toBe('path_not_allowed')
  })

  test('a secret that would begin another header, or change the path', async () => {
    const { ask, upstream } = await routed(undefined, { API_KEY: 'a\r\nX-Admin: 1/../..' })
    expect((await ask('/api', { headers: { a: '{{skerry:API_KEY}}' } })).status).toBe(403)
    expect((await ask('/api/{{skerry:API_KEY}}/x')).status).toBe(403)
    expect(upstream.got).toEqual([])
  })

  test.each(['..', '../admin', '..%2fadmin', '%2e%2e', '..;'])(
    'a path with the value %s, because an upstream could read another path',
    async (value) => {
      const { ask, upstream } = await routed('allow = ["API_KEY"]\npaths = ["/v1/*/open"]', { API_KEY: value })
      const answer = await ask('/api/v1/{{skerry:API_KEY}}/open')
      expect([answer.status, answer.headers.get('x-skerry-refusal')]).toEqual([403, 'bad_value'])
      expect(upstream.got).toEqual([])
    },
  )

  test('no text that only looks like a placeholder: it is sent as it is', async () => {
    const { ask, upstream } = await routed()
    const texts = ['{{skerry:}}', '{{skerry:A-B}}', '{{skerry:API_KEY', '{{other:API_KEY}}', '{{skerry:{{skerry:}}']
    for (const text of texts) expect((await ask('/api', { headers: { a: text } })).status).toBe(200)
    expect(upstream.got.map(({ headers }) => headers.a)).toEqual(texts)
  })

  test('a body that is too large', async () => {
    const upstream = await startUpstream()
    const { reverse } = await startWorld(
      `max_request_body_bytes = 10\n[[route]]\nprefix = "/"\nupstream = "${upstream.origin}"\nallow = ["API_KEY"]`,
    )
    expect((await fetch(`${reverse}/`, { method: 'POST', body: 'x'.repeat(10) })).status).toBe(200)
    expect((await fetch(`${reverse}/`, { method: 'POST', body: 'x'.repeat(11) })).status).toBe(413)
    const head = 'POST / HTTP/1.1\r\nHost: a\r\nConnection: close\r\nTransfer-Encoding: chunked\r\n\r\n'
    const chunked = `${head}6\r\nabcdef\r\n6\r\nabcdef\r\n0\r\n\r\n`
    expect(await raw(reverse!, chunked)).toMatch(/^HTTP\/1\.1 413 [\s\S]*the body is larger than 10 bytes/)
    expect(upstream.got).toHaveLength(1)
  })

  test.each([
    ['a length beside a transfer coding', 'Content-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n'],
    ['two lengths', 'Content-Length: 3\r\nContent-Length: 4\r\n\r\nabcd'],
    ['another transfer coding', 'Transfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n'],
    ['chunked twice', 'Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n'],
    ['two hosts', 'Host: b\r\n\r\n'],
    ['a folded line', 'A: b\r\n c\r\n\r\n'],
    ['a header with a bare line feed', 'A: b\nX: y\r\n\r\n'],
    [
      'a placeholder in a trailer',
      'Transfer-Encoding: chunked\r\nTrailer: A\r\n\r\n0\r\nA: {{skerry:API_KEY}}\r\n\r\n',
    ],
  ])('%s', async (_, rest) => {
    const { reverse, upstream } = await routed()
    const answer = await raw(reverse!, `POST /api HTTP/1.1\r\nHost: a\r\nConnection: close\r\n${rest}`)
    expect(answer).toMatch(/^HTTP\/1\.1 400 /)
    expect(upstream.got).toEqual([])
  })

  test.each(['http://evil.example/api', '*', '//evil.example', '/api/#x', '/api/\x80'])(
    'the target %j',
    async (target) => {
      const { reverse, upstream } = await routed()
      const answer = await raw(reverse!, `OPTIONS ${target} HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n`)
      expect(answer).toMatch(/^HTTP\/1\.1 40[04] /)
      expect(upstream.got).toEqual([])
    },
  )
})

test('an unreachable upstream is answered with 502, without its address', async () => {
  const { reverse } = await startWorld('[[route]]\nprefix = "/"\nupstream = "http://127.0.0.1:1"')
  const answer = await fetch(`${reverse}/`)
  expect([answer.status, await answer.text()]).toEqual([502, 'skerry-proxy: the host cannot be reached\n'])
})

test('an answer streams while it is produced, and ends when the client leaves', async () => {
  const closed = Promise.withResolvers<void>()
  const upstream = await startUpstream((_, response) => {
    response.on('close', () => closed.resolve())
    response.write('data: 1\n\n')
  })
  const { reverse } = await startWorld(`[[route]]\nprefix = "/"\nupstream = "${upstream.origin}"`)
  const leaving = new AbortController()
  const answer = await fetch(`${reverse}/`, { signal: leaving.signal })
  const { value } = await answer.body!.getReader().read()
  expect(Buffer.from(value!).toString()).toBe('data: 1\n\n')
  leaving.abort()
  await closed.promise
})
