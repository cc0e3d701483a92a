import { once } from 'node:events'
import { connect } from 'node:net'
import { gzipSync } from 'node:zlib'
import { limits } from '@skerry/contract/limits'
import { me } from '@skerry/contract/me/endpoints'
import { oauth } from '@skerry/contract/oauth/endpoints'
import { afterAll, describe, expect, test } from 'vitest'
import { routes } from '../src/app.ts'
import { type Broken, expectRefused } from './refusals.ts'
import { pathOf } from './samples.ts'
import { openOneOfEach } from './scene.ts'
import { stateOf } from './state.ts'

const { world, place } = await openOneOfEach()
const { as } = place.tenant.admin
afterAll(async () => {
  expect((await world.call(me.get, { as })).status).toBe(200)
})

/** Sends raw bytes that no HTTP library would send, and reads until the connection is closed. */
async function exchange(...parts: (string | Uint8Array)[]): Promise<string> {
  const { hostname, port } = new URL(world.url)
  const socket = connect(Number(port), hostname)
  await once(socket, 'connect')
  let answer = ''
  socket.setEncoding('utf8').on('data', (text: string) => {
    answer += text
  })
  for (const part of parts) socket.write(part)
  await once(socket, 'close')
  return answer
}

const head = (method: string, path: string, headers: Record<string, string> = {}) =>
  [
    `${method} ${path} HTTP/1.1`,
    'host: skerry',
    'connection: close',
    ...Object.entries({ authorization: as, ...headers }).map(([name, value]) => `${name}: ${value}`),
    '',
    '',
  ].join('\r\n')

/** Returns the status and body of a raw response. */
function parsed(answer: string): { status: number; body: unknown } {
  const [headers = '', body = ''] = answer.split('\r\n\r\n')
  expect(headers).toContain('content-type: application/json; charset=utf-8')
  return { status: Number(headers.split(' ')[1]), body: JSON.parse(body) }
}

const refusal = (message: string) => ({ error: { code: 'invalid_request', message } })

describe('a path or method that no route has', () => {
  test('is answered with 404, with and without a credential', async () => {
    const paths = [
      '/v1',
      '/v1/',
      '/v1/me/',
      '/v1//me',
      '//v1/me',
      '/V1/me',
      '/v1/ME',
      '/v2/me',
      '/health/',
      '/v1/me/keys/more',
      '/v1/me%2Fkeys',
      '/v1/me;a=1',
      `${pathOf({ path: '/v1/orgs/:orgId' }, place.params)}/`,
      '/.env',
      '/*',
      '/%E2%80%AE',
    ]
    const sent = (method: string, path: string, credential?: string): Broken => ({
      title: `${method} ${path}`,
      method,
      path,
      as: credential,
      status: 404,
      says: 'no such path',
    })
    await expectRefused(world, [
      ...paths.flatMap((path) =>
        ['GET', 'POST', 'DELETE'].flatMap((method) => [sent(method, path), sent(method, path, as)]),
      ),
      ...['DELETE', 'POST', 'PUT', 'PATCH', 'OPTIONS', 'PROPFIND'].map((method) => sent(method, '/v1/me', as)),
      ...['DELETE', 'POST', 'OPTIONS'].map((method) => sent(method, '/health')),
      sent('GET', '/v1/signup'),
      sent('GET', '/oauth/token'),
    ])
  })

  test('is answered with 404 even if the body is malformed', async () => {
    const all = ['{', 'a'.repeat(1000)].map((body) => ({
      title: body.slice(0, 20),
      method: 'POST',
      path: '/v1/nothing',
      body,
    }))
    await expectRefused(
      world,
      all.map((each) => ({ ...each, as, status: 404 })),
    )
  })

  test('is refused with 400 if HTTP does not know the method', async () => {
    for (const method of ['FOO', 'get', 'G ET', ''])
      expect(parsed(await exchange(head(method, '/v1/me')))).toEqual({
        status: 400,
        body: refusal('the request could not be read'),
      })
  })
})

describe('a path that cannot be decoded', () => {
  test('is refused, and the error does not repeat it', async () => {
    const paths = ['/%', '/%zz', '/v1/orgs/%', '/v1/orgs/%c3%28', '/v1/orgs/%ff/apps', '/v1/me%']
    await expectRefused(
      world,
      paths.flatMap((path) =>
        [undefined, as].map((credential) => ({
          title: path,
          method: 'GET',
          path,
          as: credential,
          status: 400 as const,
          says: 'path: is not percent-encoded UTF-8',
        })),
      ),
    )
  })
})

describe('the content type of a body', () => {
  const create = () => pathOf({ path: '/v1/orgs/:orgId/apps' }, place.params)
  const typed = (type: string | undefined, body: string, says: string, path = create()): Broken => ({
    title: `${type}`,
    method: 'POST',
    path,
    as,
    // Bytes, because fetch adds a content type of its own to a text body.
    body: Buffer.from(body),
    headers: type === undefined ? { 'content-type': '' } : { 'content-type': type },
    status: 400,
    says,
  })
  const json = '{"name":"Typed","slug":"typed"}'

  test('is refused if it is not application/json, even if the body is JSON', async () => {
    const types = [
      undefined,
      'text/plain',
      'text/json',
      'application/xml',
      'application/octet-stream',
      'application/jsonx',
      'application/merge-patch+json',
      'multipart/form-data; boundary=a',
      'application',
      '/',
      'application/json application/json',
    ]
    await expectRefused(world, [
      ...types.map((type) => typed(type, json, 'body: send application/json')),
      typed('application/x-www-form-urlencoded', 'name=Typed&slug=typed', 'body: send JSON'),
    ])
  })

  test('is refused together with a content-encoding header, whether the body is encoded or not', async () => {
    const encoded = (type: string, encoding: string, path = create()): Broken => ({
      ...typed(type, json, 'body: send it as it is, without content-encoding', path),
      headers: { 'content-type': type, 'content-encoding': encoding },
    })
    await expectRefused(world, [
      { ...encoded('application/json', 'gzip'), body: gzipSync(json) },
      ...['gzip', 'br', 'aes128gcm', 'identity, gzip'].map((encoding) => encoded('application/json', encoding)),
      { ...encoded('application/x-www-form-urlencoded', 'gzip', oauth.token.path), as: undefined },
    ])
  })

  test('is accepted as JSON in upper and lower case, and with parameters', async () => {
    const types = ['application/json; charset=utf-8', 'Application/JSON', 'application/json;charset="UTF-8"']
    for (const [index, type] of types.entries()) {
      const response = await fetch(`${world.url}${create()}`, {
        method: 'POST',
        headers: { authorization: as, 'content-type': type },
        body: JSON.stringify({ name: 'Typed', slug: `typed-${index}` }),
      })
      expect([type, response.status]).toEqual([type, 201])
    }
  })

  test('may be a form at the token endpoint, whose parameters are checked like the fields of JSON', async () => {
    const [id, secret] = Buffer.from(place.tenant.machine.as.slice(6), 'base64').toString().split(':')
    const form = (text: string, says: string) => ({
      ...typed('application/x-www-form-urlencoded', text, says, oauth.token.path),
      as: undefined,
      title: text,
    })
    const sound = `grant_type=client_credentials&client_id=${id}&client_secret=${secret}`
    await expectRefused(world, [
      form('', 'body: grant_type is required'),
      form('grant_type=password', 'body.grant_type'),
      form(`${sound}&client_id=${id}`, 'body: a parameter comes twice'),
      form(`${sound}%00`, 'body.client_secret'),
      form(`${sound}%zz`, 'body.client_secret'),
      form(`${sound}&scope=%0A`, 'body.scope'),
    ])
  })
})

/** Reads an answer. A stream of events has no end, so the caller hangs up. */
const readOrHangUp = ({ headers, body }: Response) =>
  headers.get('content-type')?.startsWith('text/event-stream') ? body?.cancel() : body?.pipeTo(new WritableStream())

describe('a response', () => {
  test('may not be stored by shared caches, and its content type may not be guessed', async () => {
    for (const { endpoint } of routes.filter(({ endpoint }) => endpoint.method === 'GET'))
      for (const headers of [{}, { authorization: as }] as Record<string, string>[]) {
        const answer = await fetch(`${world.url}${pathOf(endpoint, place.params)}`, { headers })
        await readOrHangUp(answer)
        // The caller may cache a resolve response, but must revalidate it before each use.
        const kept = answer.headers.has('etag') ? 'private, no-cache' : 'no-store'
        expect([endpoint.path, answer.headers.get('cache-control')]).toEqual([endpoint.path, kept])
        expect(answer.headers.get('x-content-type-options')).toBe('nosniff')
      }
  })
})

describe('HEAD', () => {
  test('answers with the status of GET and no body, and needs the same credential', async () => {
    const reads = routes.filter(({ endpoint }) => endpoint.method === 'GET')
    for (const { endpoint } of reads) {
      const path = `${world.url}${pathOf(endpoint, place.params)}`
      for (const headers of [{}, { authorization: as }] as Record<string, string>[]) {
        const [get, byHead] = [await fetch(path, { headers }), await fetch(path, { method: 'HEAD', headers })]
        await readOrHangUp(get)
        expect([endpoint.path, byHead.status, await byHead.text()]).toEqual([endpoint.path, get.status, ''])
      }
    }
  })

  test('is answered with 404 on a path that only has POST', async () => {
    const response = await fetch(`${world.url}/v1/signup`, { method: 'HEAD' })
    expect(response.status).toBe(404)
  })
})

describe('malformed requests', () => {
  test('are refused with the usual error body, and the connection is closed', async () => {
    const unreadable = { status: 400, body: refusal('the request could not be read') }
    const before = await stateOf(world)
    for (const bytes of [
      'nonsense\r\n\r\n',
      '\u0000\u0001\u0002\r\n\r\n',
      '\u0016\u0003\u0001\u0002\u0000\u0001\u0000\u0001',
      'GET /v1/me HTTP/9.9\r\n\r\n',
      head('GET', '/v1/me', { 'x-long': 'a'.repeat(50_000) }),
      head('GET', `/v1/${'a'.repeat(50_000)}`),
      head('GET', '/v1/me', { 'x-bad': 'a\u0000b' }),
      head('POST', '/v1/signup', { 'content-length': 'many' }),
      head('POST', '/v1/signup', { 'content-length': '2', 'transfer-encoding': 'chunked' }),
      head('POST', '/v1/signup', { expect: 'nothing', 'content-length': '2' }),
      head('CONNECT', 'elsewhere:443'),
    ])
      expect([bytes.slice(0, 60), parsed(await exchange(bytes))]).toEqual([bytes.slice(0, 60), unreadable])
    expect(await stateOf(world)).toEqual(before)
  })

  test('a request without a Host header is refused, except with HTTP/1.0', async () => {
    const bare = (version: string) => `GET /health HTTP/${version}\r\nconnection: close\r\n\r\n`
    expect(parsed(await exchange(bare('1.1')))).toEqual({ status: 400, body: refusal('Host: is required') })
    expect(parsed(await exchange(bare('1.0')))).toEqual({ status: 200, body: { status: 'ok' } })
  })

  test('a request that names two hosts is refused on every path, even if the answer is cached', async () => {
    const { params } = place
    const env = `/v1/resolve?env=${params.envId}`
    // The server answers the second request from its cache.
    for (let n = 0; n < 2; n++)
      expect((await fetch(`${world.url}${env}`, { headers: { authorization: as } })).status).toBe(200)
    const twice = (path: string, second: string) =>
      `GET ${path} HTTP/1.1\r\nhost: skerry.example\r\nHOST: ${second}\r\nauthorization: ${as}\r\nconnection: close\r\n\r\n`
    for (const path of ['/health', '/v1/me', env, '/nowhere'])
      for (const second of ['evil.example', 'skerry.example', ''])
        expect([path, parsed(await exchange(twice(path, second)))]).toEqual([
          path,
          { status: 400, body: refusal('Host: must be sent only once') },
        ])
  })

  test('a body whose content-length is too large is refused before it arrives', async () => {
    const headers = { 'content-type': 'application/json', 'content-length': String(limits.openBodyBytes + 1) }
    const answer = parsed(await exchange(head('POST', '/v1/signup', headers)))
    expect(answer).toEqual({ status: 400, body: refusal(`body: larger than ${limits.openBodyBytes} bytes`) })
  })

  test('a chunked body is refused once it is too large', async () => {
    const chunk = `10000\r\n${'a'.repeat(0x10000)}\r\n`
    const headers = { 'content-type': 'application/json', 'transfer-encoding': 'chunked' }
    const answer = parsed(await exchange(head('POST', '/v1/signup', headers), chunk, chunk, '0\r\n\r\n'))
    expect(answer).toEqual({ status: 400, body: refusal(`body: larger than ${limits.openBodyBytes} bytes`) })
  })

  test('a slow request times out: after 60 s for its headers, after 300 s for all of it', () => {
    const { requestTimeout, headersTimeout } = world.server.app.server
    expect([requestTimeout, headersTimeout]).toEqual([300_000, 60_000])
  })

  test('the body of a GET request is ignored', async () => {
    for (const text of ['{', '{"a":1}', 'x'.repeat(1000)]) {
      const headers = { 'content-type': 'application/json', 'content-length': String(text.length) }
      expect(parsed(await exchange(head('GET', '/v1/me', headers), text)).status).toBe(200)
    }
  })

  test('a caller without a valid credential is refused before the body is read', async () => {
    const headers = { authorization: 'Bearer nobody', 'content-type': 'application/json', 'content-length': '1000000' }
    const answer = parsed(await exchange(head('POST', '/v1/orgs', headers)))
    expect(answer.status).toBe(401)
  })
})
