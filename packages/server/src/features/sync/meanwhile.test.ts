import { composition } from '@skerry/contract/groups/endpoints'
import { rekey } from '@skerry/contract/rekey/endpoints'
import { sync } from '@skerry/contract/sync/endpoints'
import { describe, expect, test } from 'vitest'
import { protect } from '../../../test/guarded.ts'
import { openSync } from '../../../test/scene.ts'
import { bind, composedGroup, connect, deksFor, runNow, vaultedEnv, write } from '../../../test/sync-scene.ts'

// These tests change an environment while it is bound, or during a run.

const { platform, world, tenant } = await openSync()

const asAdmin = () => ({ as: tenant.admin.as })
const bindingOf = async (bindingId: string) => {
  const { body } = await world.call(sync.bindings, { ...asAdmin(), params: { orgId: tenant.orgId } })
  return body.bindings.find(({ id }) => id === bindingId)
}

/** From now on calls to the platform wait. `reached` resolves at the first call, and `goOn` lets all calls through. */
function holdPlatform() {
  const [reached, gate] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
  platform.answer(async () => {
    reached.resolve()
    await gate.promise
    return undefined
  })
  return { reached: reached.promise, goOn: gate.resolve }
}

describe('a bound environment', () => {
  test('that becomes protected is still pushed', async () => {
    const [env, connection] = [await vaultedEnv(world, tenant), await connect(world, tenant, platform)]
    await write(world, tenant, env, 'A', 'one')
    const binding = await bind(world, tenant, connection, [env], 'protected')
    await protect(world, tenant, env.id)
    expect(await runNow(world, tenant, binding)).toMatchObject({ status: 'succeeded', pushed: ['A'] })
    expect([...platform.values('protected')]).toEqual([['A', 'one']])
  })

  test('that loses a group during a run is pushed without that group afterwards', async () => {
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

  test('that is re-keyed without the connection during a run cannot be read any more, and the binding says so', async () => {
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
    // This run may still push what it read before. The next run can read nothing.
    expect(['succeeded', 'failed']).toContain((await running).status)
    const again = await runNow(world, tenant, binding)
    expect([again.status, again.pushed, again.error]).toEqual(['failed', [], expect.stringMatching(/no key to/)])
    expect((await bindingOf(binding.id))?.lastError).toMatch(/no key to/)
  })
})
