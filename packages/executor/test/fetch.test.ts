import { vaultPlatform } from '@skerry/contract/vault-platform'
import { expect, test } from 'vitest'
import { sent } from '../../server/test/vault-scene.ts'
import { backend, connectionOf, connectKey, openScene } from './scene.ts'
import { repeat, startUpstream } from './upstream.ts'

const scene = await openScene()
const upstream = await startUpstream()
const shown = { displayName: 'Acme', consentSummary: 'Reads your things.' }
await scene.newSettings({
  allowNetworks: ['127.0.0.0/8'],
  providers: [
    {
      ...{ id: 'acme', method: 'api_key', ...shown },
      rules: [{ host: upstream.host, methods: ['GET', 'POST'], paths: ['/v1/**'] }],
    },
  ],
})
await scene.command('register', '--server', scene.world.url, '--code', await scene.code())
await scene.start()

const key = 'sk/live "key"+ä-0123456789'
const connectionId = await connectKey(scene, 'acme', key)
const call = (request: object, more: object = {}) =>
  backend(scene, '/v1/fetch', {
    ...{ userRef: 'user-1', connectionId },
    request: { method: 'GET', url: `${upstream.origin}/v1/things`, ...request },
    ...more,
  })
const refused = ({ status, body, headers }: Awaited<ReturnType<typeof call>>) => [
  status,
  headers.get('x-seekrit-vault-error'),
  body.error?.code,
]

test('a request goes out with the key in its headers and body, written as they need it', async () => {
  const sentBody = JSON.stringify({ key: '{{skerry:API_KEY}}' })
  const headers = { authorization: 'Bearer {{seekrit:API_KEY}}', 'content-type': 'application/json' }
  const { status } = await call({ method: 'POST', headers, body: sentBody })
  expect(status).toBe(200)
  const got = upstream.got.at(-1)!
  expect(JSON.parse(got.body)).toEqual({ key })
  expect(Buffer.from(got.headers.authorization!, 'latin1').toString()).toBe(`Bearer ${key}`)
})

test('what the provider repeats comes back without the key, however it is written', async () => {
  upstream.answers = (_, response) => {
    response.setHeader('x-echo', encodeURIComponent(key))
    const forms = [key, encodeURIComponent(key), JSON.stringify(key), Buffer.from(`ada:${key}`).toString('base64')]
    // In two pieces: the key is cut in the middle.
    const text = `begin ${forms.join(' | ')} end`
    response.write(text.slice(0, 15))
    setImmediate(() => response.end(text.slice(15)))
  }
  const { body, headers } = await call({ headers: { 'x-key': '{{skerry:API_KEY}}' } })
  upstream.answers = repeat
  const text = String(body.text)
  expect(text).toMatch(/^begin .* end$/)
  expect(text.match(/redacted by skerry: API_KEY/g)).toHaveLength(4)
  for (const part of ['live', '0123456789', encodeURIComponent('"key"')]) expect(text).not.toContain(part)
  expect(headers.get('x-echo')).toBe('[redacted by skerry: API_KEY]')
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
  ['one that is encoded', { url: `${upstream.origin}/v1/%7B%7Bseekrit%3AAPI_KEY%7D%7D` }, 400, 'invalid_request'],
  ['a user in the URL', { url: `http://ada:x@${upstream.host}/v1/x` }, 400, 'invalid_request'],
  ['another scheme', { url: 'file:///etc/passwd' }, 400, 'invalid_request'],
  ['a line break in a header', { headers: { 'x-a': 'b\r\nx-c: d' } }, 400, 'invalid_request'],
])('a request with %s is refused, and nothing is sent', async (_, request, status, code) => {
  const before = upstream.got.length
  expect(refused(await call(request))).toEqual([status, code, code])
  expect(upstream.got).toHaveLength(before)
})

test('an answer whose status has words that no answer may have is refused, and the executor goes on', async () => {
  upstream.answers = (_, { socket }) => socket!.end('HTTP/1.1 200 O\x01K\r\nContent-Length: 2\r\n\r\nok')
  expect(refused(await call({}))).toEqual([502, 'provider_failed', 'provider_failed'])
  upstream.answers = repeat
  expect((await call({})).status).toBe(200)
})

test('a key does not follow a redirect', async () => {
  upstream.answers = (_, response) => response.writeHead(302, { location: 'http://evil.example/' }).end()
  expect(refused(await call({ headers: { 'x-key': '{{skerry:API_KEY}}' } }))).toEqual([
    403,
    'not_allowed',
    'not_allowed',
  ])
  upstream.answers = repeat
})

test('another user, an unknown connection and a wrong token get nothing', async () => {
  const before = upstream.got.length
  expect(refused(await call({}, { userRef: 'user-2' }))).toEqual([403, 'user_mismatch', 'user_mismatch'])
  expect(refused(await call({}, { connectionId: 'vcn_0000000000000000000000' }))[0]).toBe(404)
  const wrong = await backend(scene, '/v1/fetch', {}, 'another-token-0123456789-0123456789')
  expect(refused(wrong)).toEqual([401, 'unauthorized', 'unauthorized'])
  expect(upstream.got).toHaveLength(before)
})

test('a key that the provider refuses asks for its person, and a revoked one goes nowhere', async () => {
  const own = await connectKey(scene, 'acme', 'sk-that-is-refused', 'user-1')
  upstream.answers = (_, response) => response.writeHead(401).end('who are you')
  expect((await call({}, { connectionId: own })).status).toBe(401)
  upstream.answers = repeat
  expect(await connectionOf(scene, own)).toMatchObject({
    ...{ status: 'reauth_required', statusReason: 'provider_rejected_credential' },
  })
  expect(refused(await call({}, { connectionId: own }))[1]).toBe('reauth_required')
  const params = { vaultConnectionId: own }
  await sent(scene.world, vaultPlatform.revoke, { as: scene.platform.as, params })
  expect(refused(await call({}, { connectionId: own }))[1]).toBe('connection_revoked')
})
