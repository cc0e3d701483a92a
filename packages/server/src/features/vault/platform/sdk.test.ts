import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { createVault } from '@skerry/sdk/vault'
import { afterAll, expect, test } from 'vitest'
import { openTenant } from '../../../../test/scene.ts'
import { newConnection, newVault, open } from '../../../../test/vault-scene.ts'

const { world, tenant } = await openTenant()
const vault = await newVault(world, tenant)

/** A fake executor that returns its identity to a caller with its token. */
const executor = createServer((request, response) => {
  const isKnown = request.headers.authorization === 'Bearer executor-token' && request.url === '/v1/identity'
  const identity = { origin: 'https://executor.example.com', thumbprint: vault.executor.key.thumbprint }
  response.writeHead(isKnown ? 200 : 401, { 'content-type': 'application/json' }).end(JSON.stringify(identity))
})
await new Promise<void>((resolve) => executor.listen(0, '127.0.0.1', resolve))
afterAll(() => executor.close())

const sdk = createVault({
  baseUrl: world.url,
  key: vault.platform.as.slice('Bearer '.length),
  executorUrl: `http://127.0.0.1:${(executor.address() as AddressInfo).port}`,
  executorToken: 'executor-token',
})

test('the SDK creates links that work, and lists, repairs and revokes connections', async () => {
  const link = await sdk.connect({ userRef: 'user-1', providerId: 'acme' })
  const fragment = new URLSearchParams(new URL(link.url).hash.slice(1))
  expect([fragment.get('x'), fragment.get('k')]).toEqual([
    'https://executor.example.com',
    vault.executor.key.thumbprint,
  ])
  await open(world, { token: fragment.get('t') as string })
  expect(await sdk.session(link.sessionId)).toMatchObject({ status: 'pending', claimedAt: expect.any(String) })

  const connectionId = await newConnection(world, vault)
  expect((await sdk.connections({ userRef: 'user-1' })).connections).toMatchObject([{ id: connectionId }])
  const repair = await sdk.reconnect({ userRef: 'user-1', providerId: 'acme', connectionId })
  expect((await sdk.session(repair.sessionId)).purpose).toBe('reconnect')
  expect(new URL((await sdk.manage({ userRef: 'user-1' })).url).hash).toContain('t=vmt_')
  expect(await sdk.revoke(connectionId)).toMatchObject({ status: 'revoked', revokedBy: 'platform' })
  await expect(sdk.connect({ userRef: 'a@example.com', providerId: 'acme' })).rejects.toMatchObject({
    code: 'invalid_request',
  })
})

test('the SDK adds, tests and deletes webhooks', async () => {
  const { endpoint, secret } = await sdk.webhooks.create({ url: 'https://10.0.0.1/hook', events: ['connection.ready'] })
  expect(secret).toMatch(/^whsec_[\w-]{43}$/)
  expect(await sdk.webhooks.list()).toEqual({ available: true, endpoints: [endpoint] })
  expect(await sdk.webhooks.test(endpoint.id)).toMatchObject({ delivered: false, queued: false })
  await sdk.webhooks.delete(endpoint.id)
  expect((await sdk.webhooks.list()).endpoints).toEqual([])
})
