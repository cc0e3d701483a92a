import { composition } from '@skerry/contract/groups/endpoints'
import { rekey } from '@skerry/contract/rekey/endpoints'
import { sync } from '@skerry/contract/sync/endpoints'
import { describe, expect, test } from 'vitest'
import { protect } from '../../../test/guarded.ts'
import { openSync } from '../../../test/scene.ts'
import { bind, composedGroup, connect, deksFor, runNow, vaultedEnv, write } from '../../../test/sync-scene.ts'

// What happens to an environment while it is bound, or while a run is at work.

const { platform, world, tenant } = await openSync()

const asAdmin = () => ({ as: tenant.admin.as })
const bindingOf = async (bindingId: string) => {
  const { body } = await world.call(sync.bindings, { ...asAdmin(), params: { orgId: tenant.orgId } })
  return body.bindings.find(({ id }) => id === bindingId)
}

/** From now on, each call waits at the platform: `reached` is resolved by the first, and `goOn` lets all through. */
function holdPlatform() {
  const [reached, gate] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
  platform.answer(async () => {
    reached.resolve()
    await gate.promise
    return undefined
  })
  return { reached: reached.promise, goOn: gate.resolve }
}

describe('an environment that is bound', () => {
  test('and becomes protected is pushed as before: a push changes nothing in it', async () => {
    const [env, connection] = [await vaultedEnv(world, tenant), await connect(world, tenant, platform)]
    await write(world, tenant, env, 'A', 'one')
    const binding = await bind(world, tenant, connection, [env], 'protected')
    await protect(world, tenant, env.id)
    expect(await runNow(world, tenant, binding)).toMatchObject({ status: 'succeeded', pushed: ['A'] })
    expect([...platform.values('protected')]).toEqual([['A', 'one']])
  })

  test('and loses a group during a run ends with what is left of it', async () => {
    const [env, connection] = [await vaultedEnv(world, tenant), await connect(world, tenant, platform)]
    const group = await composedGroup(world, tenant, env)
    await write(world, tenant, env, 'OWN', 'one')
    await write(world, tenant, group, 'SHARED', 'two')
    const binding = await bind(world, tenant, connection, [env, group], 'uncomposed', { onDelete: 'delete' })
    const held = holdPlatform()
    const running = runNow(world, tenant, binding)
    await held.reached
    const params = { orgId: tenant.orgId, envId: env.id, groupId: group.groupId }
    expect((await world.call(composition.delete, { ...asAdmin(), params })).status).toBe(200)
    held.goOn()
    await running
    expect((await runNow(world, tenant, binding)).status).toBe('succeeded')
    expect([...platform.values('uncomposed').keys()]).toEqual(['OWN'])
  })

  test('and is re-keyed without the connection during a run is read no more, and the binding says so', async () => {
    const [env, connection] = [await vaultedEnv(world, tenant), await connect(world, tenant, platform)]
    await write(world, tenant, env, 'A', 'one')
    const binding = await bind(world, tenant, connection, [env], 're-keyed')
    const held = holdPlatform()
    const running = runNow(world, tenant, binding)
    await held.reached
    const [own] = await deksFor([env], connection)
    const body = {
      expectedVersions: { A: 1 },
      secrets: [{ name: 'A', ciphertext: `sc1.${'A'.repeat(16)}.${'B'.repeat(40)}` }],
      grants: [
        { principalType: 'service_token' as const, principalId: tenant.admin.id, wrappedDek: own?.wrappedDek ?? '' },
      ],
      dropReaders: [{ principalType: 'sync_connection' as const, principalId: connection.id }],
    }
    const params = { orgId: tenant.orgId, envId: env.id }
    expect((await world.call(rekey.run, { ...asAdmin(), params, body })).status).toBe(200)
    held.goOn()
    // What this run had read before may still go; the next one reads nothing.
    expect(['succeeded', 'failed']).toContain((await running).status)
    const again = await runNow(world, tenant, binding)
    expect([again.status, again.pushed, again.error]).toEqual(['failed', [], expect.stringMatching(/no key to/)])
    expect((await bindingOf(binding.id))?.lastError).toMatch(/no key to/)
  })
})
