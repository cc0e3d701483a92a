import { vaultPlatform } from '@skerry/contract/vault/platform'
import { expect, test } from 'vitest'
import { sent } from '../../server/test/vault-scene.ts'
import type { SentAs } from '../src/config/define.ts'
import { startRelay } from './relay.ts'
import { backend, connectionOf, connectKey, openScene } from './scene.ts'
import { repeat, startUpstream } from './upstream.ts'

const scene = await openScene()
const upstream = await startUpstream()
const relay = await startRelay(scene.world.url)
const elsewhere = await startUpstream()
const shown = { displayName: 'Acme', consentSummary: 'Reads your things.' }
const rules = [{ host: upstream.host, methods: ['GET', 'POST'], paths: ['/v1/**'] }]
const provider = (id: string, sentAs?: SentAs) => ({
  ...{ id, method: 'api_key' as const, ...shown, rules },
  ...(sentAs && { sentAs }),
})
await scene.newSettings({
  allowNetworks: ['127.0.0.0/8'],
  providers: [
    provider('acme'),
    provider('own-header', { header: 'X-Api-Key' }),
    provider('own-word', { header: 'x-token', scheme: 'Token' }),
    provider('bare', { scheme: '' }),
  ],
})
await scene.command('register', '--server', relay.url, '--code', await scene.code())
const running = await scene.start()

const key = 'sk/live "key"+ä-0123456789'
const connectionId = await connectKey(scene, 'acme', key)
const call = (request: object, more: object = {}) =>
  backend(scene, '/v1/fetch', {
    ...{ userRef: 'user-1', connectionId },
    request: { method: 'GET', url: `${upstream.origin}/v1/things`, ...request },
    ...more,
  })
const asUtf8 = (header: unknown) => Buffer.from(String(header), 'latin1').toString()
const refused = ({ status, body, headers }: Awaited<ReturnType<typeof call>>) => [
  status,
  headers.get('x-seekrit-vault-error'),
  body.error?.code,
]

test('a request carries the key in its headers and body, encoded as each needs it', async () => {
  const sentBody = JSON.stringify({ key: '{{skerry:API_KEY}}' })
  const headers = { authorization: 'Bearer {{seekrit:API_KEY}}', 'content-type': 'application/json' }
  const { status } = await call({ method: 'POST', headers, body: sentBody })
  expect(status).toBe(200)
  const got = upstream.got.at(-1)!
  expect(JSON.parse(got.body)).toEqual({ key })
  expect(Buffer.from(got.headers.authorization!, 'latin1').toString()).toBe(`Bearer ${key}`)
})

test('a request without a placeholder carries the key as a bearer token', async () => {
  const { status, body } = await call({
    method: 'POST',
    body: '{"a":1}',
    headers: { 'content-type': 'application/json' },
  })
  expect(status).toBe(200)
  const got = upstream.got.at(-1)!
  expect([got.body, asUtf8(got.headers.authorization)]).toEqual(['{"a":1}', `Bearer ${key}`])
  expect(JSON.stringify(body)).not.toContain('0123456789')
})

test.each([
  ['own-header', 'x-api-key', key],
  ['own-word', 'x-token', `Token ${key}`],
  ['bare', 'authorization', key],
])('a provider with its own settings (%s) gets the key in %s', async (providerId, name, expected) => {
  const own = await connectKey(scene, providerId, key)
  expect((await call({}, { connectionId: own })).status).toBe(200)
  const { headers } = upstream.got.at(-1)!
  expect(asUtf8(headers[name])).toBe(expected)
  expect(Object.values(headers).filter((value) => String(value).includes('0123456789'))).toHaveLength(1)
})

test('a key that a request places itself is not sent a second time', async () => {
  const headers = { authorization: 'Bearer of-the-product', 'x-key': '{{skerry:API_KEY}}' }
  expect((await call({ headers })).status).toBe(200)
  expect(upstream.got.at(-1)!.headers).toMatchObject({
    authorization: 'Bearer of-the-product',
    'x-key': expect.anything(),
  })
})

test('text that the provider repeats comes back without the key, in every encoding', async () => {
  upstream.answers = (_, response) => {
    response.setHeader('x-echo', encodeURIComponent(key))
    const forms = [
      ...[key, encodeURIComponent(key), JSON.stringify(key), Buffer.from(`ada:${key}`).toString('base64')],
      ...[Buffer.from(key).toString('hex'), encodeURIComponent(encodeURIComponent(key))],
    ]
    // The text is sent in two pieces, so that the key is cut in the middle.
    const text = `begin ${forms.join(' | ')} end`
    response.write(text.slice(0, 15))
    setImmediate(() => response.end(text.slice(15)))
  }
  for (const placed of [{ headers: { 'x-key': '{{skerry:API_KEY}}' } }, {}]) {
    const { body, headers } = await call(placed)
    const text = String(body.text)
    expect(text).toMatch(/^begin .* end$/)
    expect(text.match(/redacted by skerry: API_KEY/g)).toHaveLength(6)
    for (const part of ['live', '0123456789', encodeURIComponent('"key"')]) expect(text).not.toContain(part)
    expect(headers.get('x-echo')).toBe('[redacted by skerry: API_KEY]')
  }
  upstream.answers = repeat
})

test.each([
  ['another host', { url: 'http://localhost:1/v1/things' }, 403, 'not_allowed'],
  ['another port', { url: 'http://127.0.0.1:1/v1/things' }, 403, 'not_allowed'],
  ['plain HTTP elsewhere', { url: 'http://example.com/v1/things' }, 403, 'not_allowed'],
  ['another path', { url: `${upstream.origin}/admin` }, 403, 'not_allowed'],
  ['a path that leads out of the rule', { url: `${upstream.origin}/v1/%2e%2e/admin` }, 403, 'not_allowed'],
  ['another method', { method: 'DELETE' }, 403, 'not_allowed'],
  ['a credential of another kind', { headers: { 'x-key': '{{skerry:ACCESS_TOKEN}}' } }, 403, 'not_allowed'],
  ['a placeholder in the query', { url: `${upstream.origin}/v1/x?k={{skerry:API_KEY}}` }, 400, 'invalid_request'],
  ['an encoded placeholder', { url: `${upstream.origin}/v1/%7B%7Bseekrit%3AAPI_KEY%7D%7D` }, 400, 'invalid_request'],
  ['a user in the URL', { url: `http://ada:x@${upstream.host}/v1/x` }, 400, 'invalid_request'],
  [
    'a placeholder that a line break hides',
    { url: `${upstream.origin}/v1/x?k={{ske\nrry:API_KEY}}` },
    400,
    'invalid_request',
  ],
  ['the header of the key, with another value', { headers: { AUTHORIZATION: 'Bearer mine' } }, 400, 'invalid_request'],
  ['another scheme', { url: 'file:///etc/passwd' }, 400, 'invalid_request'],
  ['a line break in a header', { headers: { 'x-a': 'b\r\nx-c: d' } }, 400, 'invalid_request'],
])('a request with %s is refused, and nothing is sent', async (_, request, status, code) => {
  const before = upstream.got.length
  expect(refused(await call(request))).toEqual([status, code, code])
  expect(upstream.got).toHaveLength(before)
})

test('an answer with an invalid status text is refused, and the executor continues', async () => {
  upstream.answers = (_, { socket }) => socket!.end('HTTP/1.1 200 O\x01K\r\nContent-Length: 2\r\n\r\nok')
  expect(refused(await call({}))).toEqual([502, 'provider_failed', 'provider_failed'])
  upstream.answers = repeat
  expect((await call({})).status).toBe(200)
})

test('a key does not follow a redirect', async () => {
  for (const status of [301, 302, 303, 307, 308]) {
    upstream.answers = (_, response) => response.writeHead(status, { location: `${elsewhere.origin}/v1/things` }).end()
    for (const placed of [{ headers: { 'x-key': '{{skerry:API_KEY}}' } }, {}])
      expect(refused(await call(placed))).toEqual([403, 'not_allowed', 'not_allowed'])
  }
  upstream.answers = repeat
  expect(elsewhere.got).toEqual([])
})

test('another user, an unknown connection and a wrong token get nothing', async () => {
  const before = upstream.got.length
  expect(refused(await call({}, { userRef: 'user-2' }))).toEqual([403, 'user_mismatch', 'user_mismatch'])
  expect(refused(await call({}, { connectionId: 'vcn_0000000000000000000000' }))[0]).toBe(404)
  const wrong = await backend(scene, '/v1/fetch', {}, 'another-token-0123456789-0123456789')
  expect(refused(wrong)).toEqual([401, 'unauthorized', 'unauthorized'])
  expect(upstream.got).toHaveLength(before)
})

test('the provider’s answer is passed on even if the server cannot be told that the key was refused', async () => {
  const own = await connectKey(scene, 'acme', 'sk-that-is-refused', 'user-1')
  relay.isAway = (path) => path.endsWith('/status')
  upstream.answers = (_, response) => response.writeHead(401, { 'x-why': 'unknown' }).end('who are you')
  const { status, body, headers } = await call({}, { connectionId: own })
  expect([status, body.text, headers.get('x-why')]).toEqual([401, 'who are you', 'unknown'])
  expect(headers.get('x-skerry-vault-error')).toBeNull()
  relay.isAway = () => false
  expect((await connectionOf(scene, own)).status).toBe('active')
  expect(scene.warnings.at(-1)).toContain(`${own}: the provider refused the credential`)
  expect((await call({}, { connectionId: own })).status).toBe(401)
  upstream.answers = repeat
  expect((await connectionOf(scene, own)).statusReason).toBe('provider_rejected_credential')
})

test('a key is rejected after the provider has refused it twice, and the executor can make its connection active again', async () => {
  const own = await connectKey(scene, 'acme', 'sk-that-is-refused', 'user-1')
  const before = upstream.got.length
  upstream.answers = (got, response) =>
    upstream.got.length === before + 1 ? response.writeHead(401).end() : repeat(got, response)
  expect((await call({}, { connectionId: own })).status).toBe(200)
  expect([upstream.got.length - before, (await connectionOf(scene, own)).status]).toEqual([2, 'active'])

  upstream.answers = (_, response) => response.writeHead(401).end()
  expect((await call({}, { connectionId: own })).status).toBe(401)
  upstream.answers = repeat
  expect((await connectionOf(scene, own)).status).toBe('reauth_required')
  const reactivate = (userRef = 'user-1') => backend(scene, '/v1/reactivate', { userRef, connectionId: own })
  expect(refused(await reactivate('user-2'))[1]).toBe('user_mismatch')
  expect((await reactivate()).body).toEqual({ status: 'active' })
  expect((await reactivate()).body).toEqual({ status: 'active' })
  expect((await call({}, { connectionId: own })).status).toBe(200)
  const params = { vaultConnectionId: own }
  const { executor } = running
  await executor.server.setStatus({ params, body: { status: 'reauth_required', reason: 'refresh_token_missing' } })
  expect(refused(await reactivate())[1]).toBe('conflict')
  await sent(scene.world, vaultPlatform.revoke, { as: scene.platform.as, params })
  expect(refused(await reactivate())[1]).toBe('connection_revoked')
})

test('a connection whose key the provider refuses needs its person, and a revoked key is not sent', async () => {
  const own = await connectKey(scene, 'acme', 'sk-that-is-refused', 'user-1')
  upstream.answers = ({ headers }, response) =>
    response.writeHead(headers.authorization === 'Bearer sk-that-is-refused' ? 401 : 200).end('who are you')
  expect((await call({}, { connectionId: own })).status).toBe(401)
  expect((await call({})).status).toBe(200)
  upstream.answers = repeat
  expect((await connectionOf(scene, connectionId)).status).toBe('active')
  expect(await connectionOf(scene, own)).toMatchObject({
    ...{ status: 'reauth_required', statusReason: 'provider_rejected_credential' },
  })
  expect(refused(await call({}, { connectionId: own }))[1]).toBe('reauth_required')
  const params = { vaultConnectionId: own }
  await sent(scene.world, vaultPlatform.revoke, { as: scene.platform.as, params })
  expect(refused(await call({}, { connectionId: own }))[1]).toBe('connection_revoked')
})
