import { listEndpoints } from '@skerry/contract/endpoints'
import { describe, expect, test } from 'vitest'
import { startServer } from '../test/server.ts'
import { fast, ids, now } from '../test/world.ts'
import { createClient } from './client.ts'

const { orgId } = ids
const row = { id: ids.appId, orgId, name: 'Web', slug: 'web', createdAt: now, updatedAt: now }
const invalidRequest = expect.objectContaining({ name: 'SkerryError', code: 'invalid_request' })

/** A client that records its requests. Each is answered with an empty object. */
function recording(settings: Partial<Parameters<typeof createClient>[0]> = {}) {
  const sent: { url: string; init: RequestInit }[] = []
  const fetch = async (url: string, init: RequestInit) => {
    sent.push({ url, init })
    return new Response('{}')
  }
  return { sent, client: createClient({ baseUrl: 'https://skerry.test/', fetch, ...settings }) }
}

describe('the client', () => {
  test.each(listEndpoints())('sends $heading.$name to its path', async ({ heading, name, endpoint }) => {
    const { sent, client } = recording()
    const params = Object.fromEntries([...endpoint.path.matchAll(/:([A-Za-z]+)/g)].map(([, key]) => [key, 'x']))
    const operations = client as unknown as Record<string, Record<string, (input: object) => Promise<unknown>>>
    expect(await operations[heading]![name]!({ params })).toEqual({})
    expect(sent[0]!.url).toBe(`https://skerry.test${endpoint.path.replace(/:[A-Za-z]+/g, 'x')}`)
    expect(sent[0]!.init.method).toBe(endpoint.method)
  })

  test('sends a request that a strict server accepts, and returns the parsed answer', async () => {
    const server = await startServer('Bearer skt_x')
    server.on('apps.create', ({ params, body }) => {
      expect([params, body]).toEqual([{ orgId }, { name: 'Web', slug: 'web' }])
      return { status: 201, json: { app: row } }
    })
    const client = createClient({ baseUrl: server.baseUrl, credential: { bearer: 'skt_x' }, userAgent: 'a-test/1' })
    expect(await client.apps.create({ params: { orgId }, body: { name: 'Web', slug: 'web' } })).toEqual({ app: row })
    expect(server.requests[0]!.headers).toMatchObject({ 'x-skerry-client': 'a-test/1', 'user-agent': 'a-test/1' })
  })

  test('repeats an array in the query and leaves out undefined members', async () => {
    const { sent, client } = recording()
    await client.resolve.get({ query: { with: ['a:b', 'c:d'], env: undefined } })
    await client.apps.list({ params: { orgId }, query: { limit: 5 } })
    expect(sent[0]!.url).toBe('https://skerry.test/v1/resolve?with=a%3Ab&with=c%3Ad')
    expect(sent[1]!.url).toBe(`https://skerry.test/v1/orgs/${orgId}/apps?limit=5`)
  })

  test('keeps a path parameter within its segment', async () => {
    const { sent, client } = recording()
    await client.orgs.get({ params: { orgId: '../me?x#y%2e' } })
    expect(sent[0]!.url).toBe('https://skerry.test/v1/orgs/..%2Fme%3Fx%23y%252e')
    for (const bad of ['', '.', '..', '\ud800', undefined as unknown as string]) {
      await expect(client.orgs.get({ params: { orgId: bad } })).rejects.toEqual(invalidRequest)
    }
    expect(sent).toHaveLength(1)
  })

  test('sends machine client credentials as Basic', async () => {
    const { sent, client } = recording({ credential: { clientId: 'm2m_a', clientSecret: 'b:c' } })
    await client.me.get()
    expect(sent[0]!.init.headers).toMatchObject({ authorization: `Basic ${btoa('m2m_a:b:c')}` })
  })

  test('lets no header of the caller replace the credential', async () => {
    const { sent, client } = recording({ credential: { bearer: 'own' }, headers: { Authorization: 'Bearer other' } })
    await client.me.get({}, { headers: { AUTHORIZATION: 'Bearer third', 'X-Skerry-Change-Note': 'why' } })
    expect(Object.entries(sent[0]!.init.headers!).filter(([name]) => /authorization/i.test(name))).toEqual([
      ['authorization', 'Bearer own'],
    ])
    expect(sent[0]!.init.headers).toMatchObject({ 'x-skerry-change-note': 'why' })
  })

  test('refuses a credential that would break the header, and the error does not repeat it', () => {
    for (const credential of [
      { bearer: 'secret\r\nx: y' },
      { bearer: '' },
      { clientId: 'a:b', clientSecret: 'secret' },
      { clientId: 'a', clientSecret: 'secret\n' },
    ]) {
      const make = () => createClient({ baseUrl: 'https://skerry.test', credential })
      expect(make).toThrow(invalidRequest)
      expect(make).not.toThrow(/secret\r|secret\n|a:b/)
    }
  })

  test('does not show its credential when it is printed', () => {
    const client = createClient({ baseUrl: 'https://skerry.test', credential: { bearer: 'very-secret' } })
    expect(JSON.stringify(client)).not.toContain('very-secret')
  })
})

describe('the base URL', () => {
  test.each(['http://localhost:1', 'http://127.9.9.9', 'http://[::1]:1/', 'http://a.localhost', 'https://x.test/p/'])(
    'may be %s',
    (baseUrl) => void createClient({ baseUrl }),
  )

  test.each([
    'http://skerry.test',
    'http://127.0.0.1.skerry.test',
    'http://localhost.skerry.test',
    'http://0x7f000002.evil.test',
    'ftp://localhost',
    'https://user:pw@skerry.test',
    'https://skerry.test?x=1',
    'https://skerry.test#x',
    'skerry.test',
    '',
  ])('may not be %s', (baseUrl) => {
    expect(() => createClient({ baseUrl })).toThrow(invalidRequest)
  })

  test('may be http:// to another machine only with `allowInsecure`', async () => {
    expect(createClient({ baseUrl: 'http://skerry.test/', allowInsecure: true }).baseUrl).toBe('http://skerry.test')
  })

  test('keeps its path', async () => {
    const { sent, client } = recording({ baseUrl: 'https://skerry.test/secrets//' })
    await client.health.live()
    expect(sent[0]!.url).toBe('https://skerry.test/secrets/health')
  })
})

describe('an ETag', () => {
  test('makes the server answer 304 while nothing has changed; without it the answer has a body and an ETag', async () => {
    const server = await startServer()
    server.on('apps.get', ({ headers }) => {
      if (headers['if-none-match'] === '"v1"') return { status: 304, headers: { etag: '"v1"' } }
      return { json: { app: row, environments: [] }, headers: { etag: '"v1"', 'x-request-id': 'r1' } }
    })
    const client = createClient({ baseUrl: server.baseUrl })
    const input = { params: { orgId, appId: ids.appId } }
    const first = await client.request('apps', 'get', input)
    expect(first).toMatchObject({ status: 200, etag: '"v1"', requestId: 'r1', body: { app: row } })
    expect(await client.request('apps', 'get', input, { etag: '"v1"' })).toMatchObject({ status: 304 })
  })

  test('is required for a 304: without one, the client refuses that answer as malformed', async () => {
    const server = await startServer()
    server.on('me.get', () => ({ status: 304 }))
    const client = createClient({ baseUrl: server.baseUrl })
    await expect(client.me.get()).rejects.toMatchObject({ code: 'malformed_answer' })
  })

  test('that could not be sent back is dropped', async () => {
    const fetch = async () => new Response('{}', { headers: { etag: '"\u00e9"' } })
    const client = createClient({ baseUrl: 'https://skerry.test', fetch })
    expect(await client.request('me', 'get', {})).toMatchObject({ etag: null })
  })
})

test('the client does not follow a redirect, and reports the server as unavailable', async () => {
  const [server, elsewhere] = [await startServer(), await startServer()]
  for (const status of [301, 302, 303, 307, 308]) {
    server.on('me.get', () => ({ status, headers: { location: `${elsewhere.baseUrl}/v1/me` } }))
    const client = createClient({ baseUrl: server.baseUrl, credential: { bearer: 'secret' }, ...fast })
    const expected = { name: 'UnavailableError', message: expect.stringContaining('redirect'), status }
    await expect(client.me.get()).rejects.toMatchObject(expected)
  }
  expect(elsewhere.requests).toEqual([])
})
