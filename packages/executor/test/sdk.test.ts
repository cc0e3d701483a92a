import { rm } from 'node:fs/promises'
import { vaultPlatform } from '@skerry/contract/vault/platform'
import { vaultProjects } from '@skerry/contract/vault/projects'
import { RefusedError, UnavailableError } from '@skerry/sdk/errors'
import { createVault } from '@skerry/sdk/vault'
import { expect, test } from 'vitest'
import { open, sent } from '../../server/test/vault-scene.ts'
import { connectionOf, connectKey, openScene, token } from './scene.ts'
import { repeat, startUpstream } from './upstream.ts'

const scene = await openScene()
const upstream = await startUpstream()
await scene.newSettings({
  allowNetworks: ['127.0.0.0/8'],
  providers: [
    {
      ...{ id: 'acme', method: 'api_key', displayName: 'Acme', consentSummary: 'Reads your things.' },
      rules: [{ host: upstream.host, paths: ['/v1/**'] }],
    },
  ],
})
await scene.command('register', '--server', scene.world.url, '--code', await scene.code())
await scene.start()
const settings = { baseUrl: scene.world.url, key: scene.platform.as.replace('Bearer ', ''), executorUrl: scene.origin }
const now = () => scene.world.clock.now().getTime()
const vault = createVault({ ...settings, executorToken: token, now })
const connectionId = await connectKey(scene, 'acme', 'key-0123456789')
const request = { method: 'POST', url: `${upstream.origin}/v1/things`, body: '{"a":1}' }
const call = { userRef: 'user-1', connectionId, request }

test('a request gets the provider’s answer, and the provider gets the credential of the connection', async () => {
  const response = await vault.fetch(call)
  expect(response.status).toBe(200)
  const { headers, body } = upstream.got.at(-1)!
  expect([headers.authorization, body]).toEqual(['Bearer key-0123456789', '{"a":1}'])
  expect(await response.text()).toContain('[redacted by skerry: API_KEY]')
  const headersOf = { 'x-key': '{{skerry:API_KEY}}' }
  await vault.fetch({ ...call, request: { ...request, headers: headersOf } })
  expect(upstream.got.at(-1)!.headers).toMatchObject({ 'x-key': 'key-0123456789' })
  expect(upstream.got.at(-1)!.headers.authorization).toBeUndefined()
})

test('an answer is returned before it has ended, and its signal cancels it', async () => {
  const left = Promise.withResolvers<void>()
  upstream.answers = (_, response) => {
    response.once('close', left.resolve)
    // Longer than the part that the executor keeps back to search for credentials that are cut in two.
    response.writeHead(200).write('first piece '.repeat(10_000))
  }
  const abort = new AbortController()
  const response = await vault.fetch({ ...call, signal: abort.signal })
  const reader = response.body!.getReader()
  expect(new TextDecoder().decode((await reader.read()).value)).toMatch(/^first piece/)
  abort.abort()
  await expect(
    (async () => {
      while (!(await reader.read()).done);
    })(),
  ).rejects.toThrow('aborted')
  await left.promise
  upstream.answers = repeat
})

test('a failure of the provider is an answer, even one that looks like a refusal of the executor', async () => {
  upstream.answers = (_, response) =>
    response.writeHead(409, { 'x-skerry-vault-error': 'not_allowed', 'x-seekrit-vault-error': 'not_allowed' }).end('no')
  const response = await vault.fetch(call)
  expect([response.status, await response.text()]).toEqual([409, 'no'])
  upstream.answers = repeat
  expect((await connectionOf(scene, connectionId)).status).toBe('active')
})

test('refusals of the executor are thrown with its codes', async () => {
  const wrong = createVault({ ...settings, executorToken: 'another-token-0123456789' })
  const other = { ...request, url: `${upstream.origin}/admin` }
  const refusals: [() => Promise<unknown>, object][] = [
    [() => vault.fetch({ ...call, request: other }), { code: 'not_allowed', status: 403 }],
    [() => vault.fetch({ ...call, userRef: 'user-2' }), { code: 'user_mismatch', status: 403 }],
    [() => vault.fetch({ ...call, request: { ...request, method: 'BREW' } }), { code: 'invalid_request', status: 400 }],
    [() => wrong.fetch(call), { code: 'unauthorized', status: 401 }],
    [() => vault.browser.open({ userRef: 'user-1', connectionId }), { code: 'not_allowed', status: 403 }],
    [() => vault.browser.release({ userRef: 'user-1', leaseId: 'vls_0' }), { code: 'not_found', status: 404 }],
  ]
  for (const [ask, expected] of refusals) {
    const error = await ask().catch((thrown) => thrown)
    expect(error).toBeInstanceOf(RefusedError)
    expect(error).toMatchObject(expected)
  }
  upstream.answers = (_, { socket }) => socket!.destroy()
  const failed = await vault.fetch(call).catch((thrown) => thrown)
  expect([failed, failed.code]).toEqual([expect.any(UnavailableError), 'provider_failed'])
  upstream.answers = repeat
  const params = { vaultConnectionId: connectionId }
  await sent(scene.world, vaultPlatform.revoke, { as: scene.platform.as, params })
  await expect(vault.fetch(call)).rejects.toMatchObject({ code: 'connection_revoked', status: 409 })
})

test('a running backend names a rotated key within a minute, and a replaced executor at once', async () => {
  const link = () => vault.connect({ userRef: 'user-1', providerId: 'acme' })
  const currentKey = async () => (await (await fetch(`${scene.origin}/connect/identity`)).json()).keys[0].thumbprint
  const [before, first] = [await link(), await currentKey()]
  expect(before.executor).toEqual({ origin: scene.origin, thumbprint: first })
  await scene.command('rotate-key')
  scene.world.clock.advance(61)
  const rotated = await link()
  expect([rotated.executor.thumbprint === first, rotated.executor.thumbprint]).toEqual([false, await currentKey()])

  const { tenant, projectId, world } = scene
  await sent(world, vaultProjects.disableExecutor, { as: tenant.admin.as, params: { orgId: tenant.orgId, projectId } })
  await expect(link()).rejects.toMatchObject({ message: expect.stringContaining('no active executor') })
  await rm(scene.state, { recursive: true })
  await scene.command('register', '--server', world.url, '--code', await scene.code())
  await scene.restart()
  const replaced = await link()
  expect(replaced.executor.thumbprint).toBe(await currentKey())
  const token = new URLSearchParams(new URL(replaced.url).hash.slice(1)).get('t')
  const { session } = await open(world, { token: String(token) })
  expect('keys' in session && session.keys.map(({ thumbprint }) => thumbprint)).toEqual([replaced.executor.thumbprint])
})
