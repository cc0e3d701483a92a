import { describe, expect, test, vi } from 'vitest'
import { type Reply, startServer } from '../test/server.ts'
import { fast, ids, now, refuse } from '../test/world.ts'
import { createClient } from './client.ts'
import { parseRetryAfter } from './transport.ts'

const { orgId } = ids
const params = { orgId }
const body = { name: 'Web', slug: 'web' }
const app = { id: ids.appId, orgId, name: 'Web', slug: 'web', createdAt: now, updatedAt: now }

/** A server that answers `apps.list` and `apps.create` from a list. The last answer repeats for ever. */
async function scripted(...replies: (Reply | 'cut' | 'hang')[]) {
  const server = await startServer('Bearer secret-bearer')
  for (const operation of ['apps.list', 'apps.create']) {
    server.on(operation, ({ response }) => {
      const reply = replies[Math.min(server.requests.length, replies.length) - 1]!
      if (reply === 'cut') response.destroy()
      return typeof reply === 'string' ? undefined : reply
    })
  }
  const settings = { baseUrl: server.baseUrl, credential: { bearer: 'secret-bearer' }, ...fast }
  return { server, settings, client: createClient(settings) }
}

const list: Reply = { json: { apps: [], nextCursor: null } }
const created: Reply = { status: 201, json: { app } }
const tooMany = (after?: string): Reply => ({
  ...refuse(429, 'rate_limited'),
  headers: after === undefined ? {} : { 'retry-after': after },
})

describe('a request that can be repeated', () => {
  test.each([
    ['a 429', tooMany('0')],
    ['a 429 without Retry-After', tooMany()],
    ['a 502', refuse(502, 'internal')],
    ['a 503', refuse(503, 'internal')],
    ['a cut connection', 'cut' as const],
  ])('is repeated after %s', async (_, failure) => {
    const { server, client } = await scripted(failure, failure, list)
    expect(await client.apps.list({ params })).toEqual(list.json)
    expect(server.requests).toHaveLength(3)
  })

  test('fails as unavailable after three attempts', async () => {
    for (const [failure, code] of [
      [tooMany('0'), 'rate_limited'],
      [refuse(503, 'internal'), 'internal'],
      ['cut', 'unavailable'],
    ] as const) {
      const { server, client } = await scripted(failure)
      await expect(client.apps.list({ params })).rejects.toMatchObject({ name: 'UnavailableError', code })
      expect(server.requests).toHaveLength(3)
    }
  })

  test('waits as long as Retry-After says', async () => {
    const { client } = await scripted(tooMany('1'), list)
    const startedAt = performance.now()
    await client.apps.list({ params })
    expect(performance.now() - startedAt).toBeGreaterThanOrEqual(990)
  })

  test('fails at once, and is not repeated, if Retry-After is too far ahead', async () => {
    const { server, client } = await scripted(tooMany('60'), list)
    await expect(client.apps.list({ params })).rejects.toMatchObject({ code: 'rate_limited', status: 429 })
    expect(server.requests).toHaveLength(1)
  })
})

describe('a mutation', () => {
  test('is repeated after a 429, because that changed nothing', async () => {
    const { client } = await scripted(tooMany('0'), created)
    expect(await client.apps.create({ params, body })).toEqual({ app })
  })

  test.each([
    ['a 500', refuse(500, 'internal')],
    ['a 503', refuse(503, 'internal')],
    ['a cut connection', 'cut' as const],
  ])('is never repeated after %s', async (_, failure) => {
    const { server, client } = await scripted(failure, created)
    await expect(client.apps.create({ params, body })).rejects.toMatchObject({ name: 'UnavailableError' })
    expect(server.requests).toHaveLength(1)
  })
})

describe('a request that takes too long', () => {
  test('fails with a timeout and is not repeated', async () => {
    const { settings } = await scripted('hang')
    // Counts what is sent, not what arrives. On a busy machine the timeout may pass before the server sees the request.
    const send = vi.fn(fetch)
    const client = createClient({ ...settings, fetch: send, timeoutMs: 50 })
    await expect(client.apps.list({ params })).rejects.toMatchObject({ name: 'UnavailableError', code: 'timeout' })
    expect(send).toHaveBeenCalledTimes(1)
  })

  test('fails with a timeout even in the middle of the body', async () => {
    const server = await startServer()
    server.on('apps.list', ({ response }) => void response.writeHead(200).write('{"apps":'))
    const client = createClient({ baseUrl: server.baseUrl, timeoutMs: 50 })
    await expect(client.apps.list({ params })).rejects.toMatchObject({ code: 'timeout' })
  })

  test('fails with the caller’s reason when the caller aborts, even between two attempts', async () => {
    for (const failure of ['hang', tooMany('5')] as const) {
      const { server, settings } = await scripted(failure)
      const answered = Promise.withResolvers<void>()
      const client = createClient({
        ...settings,
        fetch: (url, init) => fetch(url, init).finally(() => answered.resolve()),
      })
      const reason = new Error('enough')
      const signal = AbortSignal.abort(reason)
      await expect(createClient(settings).apps.list({ params }, { signal })).rejects.toBe(reason)
      const controller = new AbortController()
      const given = client.apps.list({ params }, { signal: controller.signal })
      await (failure === 'hang' ? expect.poll(() => server.requests.length).toBe(1) : answered.promise)
      controller.abort(reason)
      await expect(given).rejects.toBe(reason)
    }
  })
})

describe('a refusal', () => {
  test.each([400, 401, 403, 404, 409])(
    'with status %i is the server’s decision, and the error has its code and message',
    async (status) => {
      const { server, client } = await scripted({ ...refuse(status, 'some_code'), headers: { 'x-request-id': 'r1' } })
      const expected = { name: 'RefusedError', code: 'some_code', message: 'some_code it is', status, requestId: 'r1' }
      await expect(client.apps.list({ params })).rejects.toMatchObject(expected)
      expect(server.requests).toHaveLength(1)
    },
  )

  test.each([
    '<html>',
    '',
    '{"error":"x"}',
    '{"error":{"code":1,"message":"x"}}',
    '{"error":{"message":"x"}}',
    '{"error":{"code":"A b","message":""}}',
  ])('with body %j is not the server’s decision, and the error names the status', async (text) => {
    const { client } = await scripted({ status: 418, text })
    const expected = { name: 'UnavailableError', code: 'unavailable', message: expect.stringContaining('418') }
    await expect(client.apps.list({ params })).rejects.toMatchObject(expected)
  })

  test('gives an error without the credential and control characters, whatever the server sends', async () => {
    const message = `Bearer secret-bearer\u001b[2J\u009b31m\n\u202e${'x'.repeat(10_000)}`
    const { client } = await scripted({ status: 403, text: JSON.stringify({ error: { code: 'forbidden', message } }) })
    const error = (await client.apps.list({ params }).catch((thrown: unknown) => thrown)) as Error
    expect(error.message).toMatch(/^Bearer \[redacted\] \[2J 31m x+$/)
    expect(error.message).toHaveLength(500)
    expect(error.cause).toBeUndefined()
  })
})

describe('an answer of a proxy in front of the server', () => {
  test.each([
    [
      502,
      'unavailable',
      'a proxy in front of it answered HTTP 502, because the server is not running or does not answer',
    ],
    [504, 'unavailable', 'a proxy in front of it answered HTTP 504, because the server took too long'],
    [403, 'unavailable', 'a proxy in front of it answered HTTP 403'],
    [
      413,
      'request_too_large',
      'raise the proxy’s limit for request bodies, for example `client_max_body_size 64m` in nginx',
    ],
  ])('with status %i gives an error of one line that explains it', async (status, code, said) => {
    const { client } = await scripted({ status, text: '<html>\n<h1>secret-page</h1></html>' })
    const error = (await client.apps.create({ params, body }).catch((thrown: unknown) => thrown)) as Error
    expect(error).toMatchObject({ code, status, message: expect.stringContaining(said) })
    expect(error.message).not.toMatch(/secret-page|\n/)
  })
})

describe('an answer', () => {
  test.each(['{"apps":["planted', '', 'null', '"planted"', '<html>planted', 'planted'])(
    'with body %j is malformed, and the error does not quote it',
    async (text) => {
      const { client } = await scripted({ text })
      const error = (await client.apps.list({ params }).catch((thrown: unknown) => thrown)) as Error
      expect(error).toMatchObject({ name: 'SkerryError', code: 'malformed_answer', status: 200 })
      expect(error.message).not.toContain('planted')
      expect(error.cause).toBeUndefined()
    },
  )

  test('that breaks off is a network failure', async () => {
    const server = await startServer()
    server.on('apps.list', ({ response }) => {
      response.writeHead(200, { 'content-length': '100' }).write('{"apps":', () => response.destroy())
      return undefined
    })
    const client = createClient({ baseUrl: server.baseUrl, ...fast })
    await expect(client.apps.list({ params })).rejects.toMatchObject({ code: 'unavailable' })
  })

  test('that does not end is aborted at the limit', async () => {
    const server = await startServer()
    server.on('apps.list', ({ response }) => {
      const more = () => void (response.destroyed || response.write('x'.repeat(1 << 16), more))
      more()
      return undefined
    })
    const client = createClient({ baseUrl: server.baseUrl, answerMaxBytes: 1 << 20 })
    await expect(client.apps.list({ params })).rejects.toMatchObject({ code: 'malformed_answer' })
  })
})

test('a server that is down is unavailable, and the error gives the reason', async () => {
  const server = await startServer()
  await server.close()
  const client = createClient({ baseUrl: server.baseUrl, credential: { bearer: 'secret' }, ...fast })
  const error = (await client.me.get().catch((thrown: unknown) => thrown)) as Error
  expect(error).toMatchObject({ name: 'UnavailableError', code: 'unavailable', status: null, requestId: null })
  expect(error.message).toContain('ECONNREFUSED')
})

test.each([
  ['3', 3000],
  ['0', 0],
  ['Fri, 02 Jan 2026 03:04:10 GMT', 5000],
  ['Fri, 02 Jan 2026 03:04:00 GMT', 0],
  ['soon', undefined],
  ['-1', undefined],
  ['99999999999', undefined],
  [null, undefined],
])('the client reads Retry-After %j as %j ms', (header, ms) => {
  expect(parseRetryAfter(header, Date.parse(now))).toBe(ms)
})
