import { createHmac } from 'node:crypto'
import { afterAll, expect, test } from 'vitest'
import { startWebhookReceiver, trustReceivers } from '../../server/test/services/webhook-receiver.ts'
import { until } from '../../server/test/until.ts'
import { backend, connectionOf, connectKey, openScene, token } from './scene.ts'
import { ada, profileOf, startSite } from './site.ts'
import { startUpstream } from './upstream.ts'

/*
 * Requests exactly as the published JavaScript client sends them: its paths, headers and bodies. The client expects
 * JSON from every answer, and verifies webhooks in its own way.
 */

const scene = await openScene()
const upstream = await startUpstream()
const site = await startSite(scene.world.clock.now)
trustReceivers(scene.world)
const receiver = await startWebhookReceiver()
afterAll(() => receiver.close())
await scene.newSettings({
  allowNetworks: ['127.0.0.0/8'],
  providers: [
    {
      ...{ id: 'acme', method: 'api_key', displayName: 'Acme', consentSummary: 'Reads your things.' },
      rules: [{ host: upstream.host, methods: ['POST'], paths: ['/v1/**'] }],
    },
  ],
  browser: { sandbox: false },
  sites: [{ ...profileOf(site), slots: ['login'] }],
})
await scene.command('register', '--server', scene.world.url, '--code', await scene.code())
await scene.start()

const call = (origin: string, bearer: string, client: object) => (method: string, path: string, body?: object) =>
  fetch(`${origin}${path}`, {
    method,
    headers: {
      ...{ accept: 'application/json', authorization: `Bearer ${bearer}`, ...client },
      ...(body !== undefined && { 'content-type': 'application/json' }),
    },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  })
const platformKey = scene.platform.as.replace('Bearer ', '')
const server = call(scene.world.url, platformKey, { 'x-seekrit-client': 'sdk-js/vault' })
const executor = call(scene.origin, token, {})
const answer = async (asked: Promise<Response>) => {
  const response = await asked
  expect(response.status).toBeLessThan(300)
  // The client reads every answer as JSON, also that of a deletion.
  return response.json()
}

test('the answers for a link and a manage link contain what the client needs to build their addresses', async () => {
  expect(platformKey).toMatch(/^skv_/)
  expect(await answer(executor('GET', '/v1/identity'))).toEqual({
    ...{ origin: scene.origin, thumbprint: expect.stringMatching(/^[\w-]{43}$/) },
  })
  const link = { userRef: 'user-1', providerId: 'acme' }
  const { session } = await answer(server('POST', '/v1/vault/connect-sessions', link))
  const [token, connectionId, expiresAt] = Array(3).fill(expect.any(String))
  expect(session).toMatchObject({ token, connectionId, method: 'api_key', expiresAt })
  const shown = await answer(server('GET', `/v1/vault/connect-sessions/${session.id}`))
  expect(shown.session).toMatchObject({ ...link, purpose: 'connect', status: 'pending', connectionId: null })
  const manage = await answer(server('POST', '/v1/vault/manage-sessions', { userRef: 'user-1' }))
  expect(manage.session).toMatchObject({ id: expect.any(String), token: expect.any(String) })
})

test('connections are listed, shown, used and revoked', async () => {
  const connectionId = await connectKey(scene, 'acme', 'key-0123456789')
  const query = 'userRef=user-1&status=active&limit=10'
  const { connections, nextCursor } = await answer(server('GET', `/v1/vault/connections?${query}`))
  const { connection } = await answer(server('GET', `/v1/vault/connections/${connectionId}`))
  expect([connections, nextCursor]).toEqual([[connection], null])
  expect(connection).toMatchObject({
    method: 'api_key',
    status: 'active',
    slots: [{ slot: 'api_key', revision: 1 }],
    expiresAt: null,
  })

  const request = { method: 'POST', url: `${upstream.origin}/v1/things`, body: 'k={{seekrit:API_KEY}}' }
  const used = await executor('POST', '/v1/fetch', { userRef: 'user-1', connectionId, request })
  expect([used.status, used.headers.get('x-seekrit-vault-error')]).toEqual([200, null])
  expect(upstream.got.at(-1)?.body).toBe('k=key-0123456789')
  expect(await used.text()).not.toContain('key-0123456789')

  const revoked = await answer(server('DELETE', `/v1/vault/connections/${connectionId}`))
  expect(revoked.connection).toMatchObject({ id: connectionId, status: 'revoked', revokedBy: 'platform' })
  const refused = await executor('POST', '/v1/fetch', { userRef: 'user-1', connectionId, request })
  expect(refused.headers.get('x-seekrit-vault-error')).toBe('connection_revoked')
  expect(await refused.json()).toMatchObject({ error: { code: 'connection_revoked', message: expect.any(String) } })
})

test('a request without a placeholder is sent with the credential of its connection', async () => {
  const connectionId = await connectKey(scene, 'acme', 'key-0123456789')
  const request = { method: 'POST', url: `${upstream.origin}/v1/things`, body: '{"name":"thing"}' }
  const used = await executor('POST', '/v1/fetch', { userRef: 'user-1', connectionId, request })
  expect([used.status, used.headers.get('x-seekrit-vault-error')]).toEqual([200, null])
  const { headers, body } = upstream.got.at(-1)!
  expect([headers.authorization, body]).toEqual(['Bearer key-0123456789', '{"name":"thing"}'])
  expect(await used.text()).not.toContain('key-0123456789')
  expect((await connectionOf(scene, connectionId)).status).toBe('active')
})

test('a browser is opened, filled in, handed to its person and released', async () => {
  const connectionId = await connectKey(scene, 'shop', JSON.stringify(ada))
  const of = { userRef: 'user-1', connectionId }
  const lease = await executor('POST', '/v1/browser/open', { ...of, keepAliveMs: 600_000 })
  const opened = await lease.json()
  expect([lease.status, opened]).toEqual([
    201,
    {
      ...{ leaseId: expect.any(String), sessionId: expect.any(String), targetId: expect.any(String) },
      ...{ expiresAt: expect.any(String), signedIn: false },
    },
  ])
  const held = { userRef: 'user-1', leaseId: opened.leaseId }
  const filled = executor('POST', '/v1/browser/fill', { ...held, field: 'username' })
  expect(await answer(filled)).toEqual({ filled: true })
  const others = await executor('POST', '/v1/browser/fill', { ...held, userRef: 'user-2', field: 'username' })
  expect([others.status, others.headers.get('x-seekrit-vault-error')]).toEqual([403, 'user_mismatch'])
  const asked = await answer(executor('POST', '/v1/browser/reauth', held))
  expect(asked).toEqual({ liveViewUrl: expect.stringContaining(scene.origin), expiresAt: expect.any(String) })
  const released = executor('POST', '/v1/browser/release', { ...held, save: false })
  expect(await answer(released)).toEqual({ saved: false, signedIn: null })
  const gone = await executor('POST', '/v1/browser/release', held)
  expect([gone.status, gone.headers.get('x-seekrit-vault-error')]).toEqual([404, 'not_found'])

  const request = { method: 'GET', url: `${site.origin}/` }
  const { status, body } = await backend(scene, '/v1/fetch', { ...of, request })
  expect([status, body.error?.message]).toEqual([400, expect.stringContaining('/v1/browser/open')])
})

test('a webhook is created, tested, verified and deleted', async () => {
  const made = await answer(server('POST', '/v1/vault/webhooks', { url: `${receiver.url}/published` }))
  expect(made.secret).toMatch(/^whsec_/)
  expect(await answer(server('GET', '/v1/vault/webhooks'))).toEqual({ endpoints: [made.endpoint], available: true })
  const tried = await answer(server('POST', `/v1/vault/webhooks/${made.endpoint.id}/test`))
  expect(tried).toMatchObject({ delivered: true, status: 204, error: null, queued: false })
  await connectKey(scene, 'acme', 'key-0123456789')
  const hooks = await until('a connection is told of', async () => receiver.hooks.length === 2 && receiver.hooks)
  for (const { headers, body } of hooks) {
    const [id, at] = ['id', 'timestamp'].map((name) => headers[`seekrit-webhook-${name}`])
    const mac = createHmac('sha256', made.secret).update(`${id}.${at}.${body}`).digest('hex')
    expect([headers['seekrit-webhook-signature'], JSON.parse(body).id]).toEqual([`v1=${mac}`, id])
  }
  expect(hooks.map(({ body }) => JSON.parse(body).type)).toEqual(['ping', 'connection.ready'])
  const { data } = JSON.parse(hooks[1]!.body)
  expect(data.connection).toMatchObject({ status: 'active', expiresAt: null, revokedAt: null })
  await answer(server('DELETE', `/v1/vault/webhooks/${made.endpoint.id}`))
})
