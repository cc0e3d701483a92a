import { resolve } from '@skerry/contract/resolve/endpoints'
import { expect, test } from 'vitest'
import { openEnv } from '../../test/scene.ts'
import { grantKey, newToken, putSecret } from '../../test/tenant.ts'
import { type Entry, system, transactWithAudit } from './audit.ts'

const { world, tenant, envId } = await openEnv()
const { context } = world.server
const { orgId } = tenant
const token = await newToken(world, tenant, { environmentId: envId })
await grantKey(world, tenant, envId, token)
await putSecret(world, tenant, envId, 'NAME')

const isRemembered = () => context.cache.find(`${token.id} `, context.now().getTime()) !== undefined
/** Resolves until the answer is cached, then records this entry -> whether the answer is still cached. */
async function afterwards(entry: Omit<Entry, 'orgId' | 'resourceId'>): Promise<boolean> {
  const ask = () => world.call(resolve.get, { as: token.as })
  // On PostgreSQL earlier writes are read and evicted a moment later.
  await expect.poll(() => ask().then(isRemembered)).toBe(true)
  await transactWithAudit(context, system, async (_, record) => record({ orgId, resourceId: null, ...entry }))
  return isRemembered()
}

test('a sign-in to an organization evicts no cached answers', async () => {
  expect(await afterwards({ action: 'session.started', metadata: {} })).toBe(true)
})

test('a revoked key evicts all cached answers of the organization', async () => {
  expect(await afterwards({ action: 'key.revoked', metadata: {} })).toBe(false)
})

test('a written secret evicts only the answers of its environment', async () => {
  const metadata = { environmentId: envId }
  expect(await afterwards({ action: 'secret.written', metadata: { environmentId: 'env_other' } })).toBe(true)
  expect(await afterwards({ action: 'secret.written', metadata })).toBe(false)
})

test('an action that evicts the answers of an environment must name that environment', async () => {
  await expect(afterwards({ action: 'secret.written', metadata: {} })).rejects.toThrow('has to name its environment')
})
