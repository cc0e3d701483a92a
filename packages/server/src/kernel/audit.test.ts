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
/** Resolves until memory has the answer, and then records this as if it had happened. */
async function afterwards(entry: Omit<Entry, 'orgId' | 'resourceId'>): Promise<boolean> {
  const ask = () => world.call(resolve.get, { as: token.as })
  // On PostgreSQL what was written before is read, and evicted, a moment later.
  await expect.poll(() => ask().then(isRemembered)).toBe(true)
  await transactWithAudit(context, system, async (_, record) => record({ orgId, resourceId: null, ...entry }))
  return isRemembered()
}

test('a sign-in in an organization leaves its cached answers where they are', async () => {
  expect(await afterwards({ action: 'session.started', metadata: {} })).toBe(true)
})

test('a change of its structure evicts them all', async () => {
  expect(await afterwards({ action: 'key.revoked', metadata: {} })).toBe(false)
})

test('a written secret evicts the answers of its environment, and no others', async () => {
  const metadata = { environmentId: envId }
  expect(await afterwards({ action: 'secret.written', metadata: { environmentId: 'env_other' } })).toBe(true)
  expect(await afterwards({ action: 'secret.written', metadata })).toBe(false)
})

test('an action that evicts an environment has to name it', async () => {
  await expect(afterwards({ action: 'secret.written', metadata: {} })).rejects.toThrow('has to name its environment')
})
