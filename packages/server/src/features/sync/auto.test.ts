import { setTimeout as sleep } from 'node:timers/promises'
import { branches } from '@skerry/contract/branches/endpoints'
import { composition } from '@skerry/contract/groups/endpoints'
import { rekey } from '@skerry/contract/rekey/endpoints'
import { secrets } from '@skerry/contract/secrets/endpoints'
import { sync } from '@skerry/contract/sync/endpoints'
import { describe, expect, test } from 'vitest'
import { openSync } from '../../../test/scene.ts'
import {
  bind,
  composedGroup,
  connect,
  deksFor,
  erase,
  runNow,
  vaultedEnv,
  wrapped,
  write,
} from '../../../test/sync-scene.ts'
import { sweep } from './jobs.ts'

const { platform, world, tenant } = await openSync()

let count = 0
const newAppName = () => `auto-${++count}`
const held = (app: string) => Object.fromEntries([...platform.values(app)].sort())
const pushesTo = (app: string) => platform.pushes.filter((push) => push.app === app).length
const inOrg = () => ({ as: tenant.admin.as, params: { orgId: tenant.orgId } })
const runsOf = async (bindingId: string) =>
  (await world.call(sync.runs, { ...inOrg(), query: { bindingId } })).body.runs
const bindingOf = async (bindingId: string) =>
  (await world.call(sync.bindings, inOrg())).body.bindings.find(({ id }) => id === bindingId)

const change = async (bindingId: string, body: object) => {
  const params = { orgId: tenant.orgId, bindingId }
  return (await world.call(sync.updateBinding, { as: tenant.admin.as, params, body })).body.binding
}

/** Processes all changes so far, and waits for the last run that they cause. */
async function settled(bindingId: string): Promise<void> {
  await sweep(world.server.context)
  const { db } = world.server.context
  // The sweep skips changes that the server is processing at this moment.
  await expect.poll(() => db.rows('select 1 from sync_changes where org_id = $1', [tenant.orgId])).toEqual([])
  await expect.poll(async () => (await runsOf(bindingId)).every(({ status }) => status === 'succeeded')).toBe(true)
}

const auto = { mode: 'auto' }

/** The causes of the mails that admins got about a connection. */
async function mailedOf(connectionId: string): Promise<{ cause: string }[]> {
  const rows = await world.server.context.db.rows<{ facts: { connectionId: string; cause: string } }>(
    `select data->'facts' as facts from jobs where name = 'events.notifications' and data->>'type' = 'sync.failed'
      order by number`,
  )
  return rows.map(({ facts }) => facts).filter((facts) => facts.connectionId === connectionId)
}

describe('an automatic binding', () => {
  test('pushes at the start and after every change, and combines changes that arrive during a push', async () => {
    const [env, connection, app] = [
      await vaultedEnv(world, tenant),
      await connect(world, tenant, platform),
      newAppName(),
    ]
    await write(world, tenant, env, 'FIRST', '1')
    const binding = await bind(world, tenant, connection, [env], app, { ...auto, onDelete: 'delete' })
    await expect.poll(() => held(app)).toEqual({ FIRST: '1' })
    await settled(binding.id)
    const before = pushesTo(app)
    const asked = Promise.withResolvers<void>()
    const written = Promise.withResolvers<undefined>()
    platform.answer(() => {
      asked.resolve()
      return written.promise
    })
    await write(world, tenant, env, 'NAME_0', 'x')
    await asked.promise
    for (let number = 1; number < 10; number++) await write(world, tenant, env, `NAME_${number}`, 'x')
    await erase(world, tenant, env, 'FIRST')
    written.resolve(undefined)
    await expect.poll(() => [Object.keys(held(app)).length, held(app).FIRST]).toEqual([10, undefined])
    expect(pushesTo(app) - before).toBe(2)
  })

  test('pushes within 5 seconds of a change, although further changes keep coming', async () => {
    const [env, connection, app] = [
      await vaultedEnv(world, tenant),
      await connect(world, tenant, platform),
      newAppName(),
    ]
    await write(world, tenant, env, 'FIRST', '1')
    const binding = await bind(world, tenant, connection, [env], app, auto)
    await expect.poll(() => held(app)).toEqual({ FIRST: '1' })
    await settled(binding.id)
    const changedAt = performance.now()
    for (let number = 0; held(app).NAME_0 === undefined && performance.now() - changedAt < 10_000; number++) {
      await write(world, tenant, env, `NAME_${number}`, 'x')
      await sleep(200)
    }
    expect(performance.now() - changedAt).toBeLessThan(5500)
  })

  test('follows changes of a composed group and of the composition, a restore and a re-key', async () => {
    const [env, connection, app] = [
      await vaultedEnv(world, tenant),
      await connect(world, tenant, platform),
      newAppName(),
    ]
    const group = await composedGroup(world, tenant, env)
    await write(world, tenant, group, 'SHARED', 'one')
    const binding = await bind(world, tenant, connection, [env, group], app, { ...auto, onDelete: 'delete' })
    await expect.poll(() => held(app)).toEqual({ SHARED: 'one' })
    await write(world, tenant, group, 'SHARED', 'two')
    await expect.poll(() => held(app)).toEqual({ SHARED: 'two' })
    const params = { orgId: tenant.orgId, envId: group.id, name: 'SHARED' }
    await world.call(secrets.restore, { as: tenant.admin.as, params, body: { version: 1 } })
    await expect.poll(() => held(app)).toEqual({ SHARED: 'one' })
    const inEnv = { orgId: tenant.orgId, envId: env.id }
    await world.call(composition.delete, { as: tenant.admin.as, params: { ...inEnv, groupId: group.groupId } })
    await expect.poll(() => held(app)).toEqual({})
    // After a re-key without the connection, it can no longer read and reports the missing key.
    await write(world, tenant, env, 'OWN', 'value')
    await expect.poll(() => held(app)).toEqual({ OWN: 'value' })
    const [own] = await deksFor([env], connection)
    const body = {
      expectedVersions: { OWN: 1 },
      secrets: [{ name: 'OWN', ciphertext: `sc1.${'A'.repeat(16)}.${'B'.repeat(40)}` }],
      grants: [{ principalType: 'service_token', principalId: tenant.admin.id, wrappedDek: own?.wrappedDek }],
      dropReaders: [{ principalType: 'sync_connection', principalId: connection.id }],
    }
    expect((await world.call(rekey.run, { as: tenant.admin.as, params: inEnv, body })).status).toBe(200)
    await expect.poll(async () => (await bindingOf(binding.id))?.lastError).toMatch(/no key to/)
    expect(held(app)).toEqual({ OWN: 'value' })
  })

  test('makes no run for a change in an environment that it does not read', async () => {
    const [env, other] = [await vaultedEnv(world, tenant), await vaultedEnv(world, tenant)]
    const [connection, app] = [await connect(world, tenant, platform), newAppName()]
    await write(world, tenant, env, 'A', '1')
    const binding = await bind(world, tenant, connection, [env], app, auto)
    await expect.poll(() => held(app)).toEqual({ A: '1' })
    await settled(binding.id)
    const before = await runsOf(binding.id)
    await write(world, tenant, other, 'B', '2')
    const params = { orgId: tenant.orgId, envId: other.id }
    const fork = { slug: 'elsewhere', wrappedDek: (await deksFor([other], connection))[0]?.wrappedDek }
    await world.call(branches.create, { as: tenant.admin.as, params, body: fork })
    await sweep(world.server.context)
    expect(await runsOf(binding.id)).toEqual(before)
  })

  test('retries after ever longer pauses, and mails the admins once after three failures', async () => {
    const [env, connection, app] = [
      await vaultedEnv(world, tenant),
      await connect(world, tenant, platform),
      newAppName(),
    ]
    await write(world, tenant, env, 'A', '1')
    platform.answer(() => ({ status: 503, body: { error: 'maintenance' } }))
    const binding = await bind(world, tenant, connection, [env], app, auto)
    const failures = async () => (await runsOf(binding.id)).filter(({ status }) => status === 'failed').length
    const pauses: number[] = []
    for (let tries = 1; tries <= 4; tries++) {
      await expect.poll(failures).toBe(tries)
      expect((await mailedOf(connection.id)).length).toBe(tries < 3 ? 0 : 1)
      const { nextTryAt, lastError } = (await bindingOf(binding.id)) ?? {}
      expect(lastError).toContain('503')
      pauses.push(Date.parse(nextTryAt as string) - world.clock.now().getTime())
      if (tries === 4) platform.answer(null)
      world.clock.advance(Math.ceil((pauses.at(-1) as number) / 1000) + 1)
      if (tries < 4) await sweep(world.server.context)
    }
    expect(pauses).toEqual(pauses.toSorted((a, b) => a - b))
    const facts = { connectionId: connection.id, connection: connection.id, bindingId: binding.id, cause: 'failure' }
    expect(await mailedOf(connection.id)).toEqual([facts])
    await sweep(world.server.context)
    await expect.poll(() => held(app)).toEqual({ A: '1' })
    await expect.poll(async () => (await bindingOf(binding.id))?.nextTryAt).toBeNull()
  })

  test('waits as long as the provider asks for', async () => {
    const [env, connection, app] = [
      await vaultedEnv(world, tenant),
      await connect(world, tenant, platform),
      newAppName(),
    ]
    await write(world, tenant, env, 'A', '1')
    platform.answer(() => ({ status: 429, headers: { 'retry-after': '7200' }, body: { error: 'slow down' } }))
    const binding = await bind(world, tenant, connection, [env], app, auto)
    await expect.poll(async () => (await bindingOf(binding.id))?.nextTryAt ?? null).not.toBeNull()
    const { nextTryAt } = (await bindingOf(binding.id)) ?? {}
    expect(Date.parse(nextTryAt as string) - world.clock.now().getTime()).toBeGreaterThan(7100_000)
  })

  test('pushes a change of such a pause when the pause has ended, and not earlier', async () => {
    const [env, connection, app] = [
      await vaultedEnv(world, tenant),
      await connect(world, tenant, platform),
      newAppName(),
    ]
    await write(world, tenant, env, 'A', '1')
    const asked = Promise.withResolvers<void>()
    const written = Promise.withResolvers<void>()
    platform.answer(async () => {
      asked.resolve()
      await written.promise
      return { status: 429, headers: { 'retry-after': '7200' }, body: { error: 'slow down' } }
    })
    const binding = await bind(world, tenant, connection, [env], app, auto)
    // One change comes during the push that is refused, one after it, and then the settings are changed.
    await asked.promise
    await write(world, tenant, env, 'B', '2')
    await sweep(world.server.context)
    expect(await runsOf(binding.id)).toHaveLength(2)
    written.resolve()
    await expect.poll(async () => (await bindingOf(binding.id))?.nextTryAt ?? null).not.toBeNull()
    platform.answer(null)
    await write(world, tenant, env, 'C', '3')
    await sweep(world.server.context)
    const updated = await change(binding.id, { exclude: ['NOTHING'] })
    expect(Date.parse(updated.nextTryAt as string) - world.clock.now().getTime()).toBeGreaterThan(7100_000)
    await expect.poll(async () => (await runsOf(binding.id)).map(({ status }) => status)).toEqual(['failed'])
    await sleep(1500)
    expect(held(app)).toEqual({})
    world.clock.advance(7300)
    await sweep(world.server.context)
    await expect.poll(() => held(app)).toEqual({ A: '1', B: '2', C: '3' })
    expect((await runsOf(binding.id)).map(({ trigger }) => trigger)).toEqual(['retry', 'change'])
  })

  test('waits for such a pause even if its settings were changed during the push, unless a person starts a run', async () => {
    const [env, connection, app] = [
      await vaultedEnv(world, tenant),
      await connect(world, tenant, platform),
      newAppName(),
    ]
    await write(world, tenant, env, 'A', '1')
    const asked = Promise.withResolvers<void>()
    const written = Promise.withResolvers<void>()
    platform.answer(async () => {
      asked.resolve()
      await written.promise
      return { status: 429, headers: { 'retry-after': '7200' }, body: { error: 'slow down' } }
    })
    const binding = await bind(world, tenant, connection, [env], app, auto)
    await asked.promise
    await change(binding.id, { exclude: ['NOTHING'] })
    written.resolve()
    platform.answer(null)
    await expect.poll(async () => (await bindingOf(binding.id))?.nextTryAt ?? null).not.toBeNull()
    await sleep(1500)
    expect(held(app)).toEqual({})
    expect((await runNow(world, tenant, binding)).status).toBe('succeeded')
    expect(held(app)).toEqual({ A: '1' })
    // The run has succeeded, so no pause is left.
    await write(world, tenant, env, 'B', '2')
    await sweep(world.server.context)
    await expect.poll(() => held(app)).toEqual({ A: '1', B: '2' })
  })

  test('does not wait for the pause of a former destination or credential', async () => {
    const [env, connection, app, next] = [
      await vaultedEnv(world, tenant),
      await connect(world, tenant, platform),
      newAppName(),
      newAppName(),
    ]
    await write(world, tenant, env, 'A', '1')
    const refuse = () => ({ status: 429, headers: { 'retry-after': '7200' }, body: { error: 'slow down' } })
    platform.answer(refuse)
    const binding = await bind(world, tenant, connection, [env], app, auto)
    await expect.poll(async () => (await bindingOf(binding.id))?.nextTryAt ?? null).not.toBeNull()
    platform.answer(null)
    const destination = { ...(await bindingOf(binding.id))?.destination, appName: next }
    expect((await change(binding.id, { destination })).nextTryAt).toBeNull()
    await expect.poll(() => held(next)).toEqual({ A: '1' })
    await expect.poll(async () => (await runsOf(binding.id))[0]?.status).toBe('succeeded')
    platform.answer(refuse)
    await write(world, tenant, env, 'B', '2')
    await expect.poll(async () => (await bindingOf(binding.id))?.nextTryAt ?? null).not.toBeNull()
    platform.answer(null)
    const params = { orgId: tenant.orgId, connectionId: connection.id }
    const wrappedCredential = await wrapped(platform.token, connection)
    await world.call(sync.updateConnection, { as: tenant.admin.as, params, body: { wrappedCredential } })
    await write(world, tenant, env, 'C', '3')
    await expect.poll(() => held(next)).toEqual({ A: '1', B: '2', C: '3' })
  })

  test('pushes a change during a pause of our own at once', async () => {
    const [env, connection, app] = [
      await vaultedEnv(world, tenant),
      await connect(world, tenant, platform),
      newAppName(),
    ]
    await write(world, tenant, env, 'A', '1')
    platform.answer(() => ({ status: 503, body: { error: 'maintenance' } }))
    const binding = await bind(world, tenant, connection, [env], app, auto)
    await expect.poll(async () => (await bindingOf(binding.id))?.nextTryAt ?? null).not.toBeNull()
    platform.answer(null)
    expect((await change(binding.id, { exclude: ['NOTHING'] })).nextTryAt).toBeNull()
    await expect.poll(() => held(app)).toEqual({ A: '1' })
  })
})

describe('admins are mailed', () => {
  test('about a refused credential at once, once per connection, and again about a new credential', async () => {
    const connection = await connect(world, tenant, platform)
    const [one, other] = [await vaultedEnv(world, tenant), await vaultedEnv(world, tenant)]
    const bindings = []
    for (const env of [one, other]) {
      await write(world, tenant, env, 'A', '1')
      bindings.push(await bind(world, tenant, connection, [env], newAppName()))
    }
    const [first, second] = bindings as [{ id: string }, { id: string }]
    const app = (await bindingOf(first.id))?.destination as { appName?: string } | undefined
    // Every run skips a name that belongs to somebody else. It must not hide later failures.
    platform.values(app?.appName ?? '').set('A', 'theirs')
    for (let runs = 0; runs < 4; runs++) expect((await runNow(world, tenant, first)).status).toBe('succeeded')
    expect(await mailedOf(connection.id)).toEqual([])
    platform.answer(() => ({ status: 401, body: { error: 'revoked' } }))
    for (const binding of [first, second, first]) await runNow(world, tenant, binding)
    expect((await mailedOf(connection.id)).map(({ cause }) => cause)).toEqual(['credential'])
    const wrappedCredential = await wrapped('fm2_another', connection)
    const params = { orgId: tenant.orgId, connectionId: connection.id }
    await world.call(sync.updateConnection, { as: tenant.admin.as, params, body: { wrappedCredential } })
    await runNow(world, tenant, second)
    expect((await mailedOf(connection.id)).length).toBe(2)
  })

  test('about a refused credential even after a mail about another failure', async () => {
    const [env, connection] = [await vaultedEnv(world, tenant), await connect(world, tenant, platform)]
    await write(world, tenant, env, 'A', '${NOWHERE}')
    const binding = await bind(world, tenant, connection, [env], newAppName())
    await runNow(world, tenant, binding)
    platform.answer(() => ({ status: 401, body: { error: 'revoked' } }))
    for (let runs = 0; runs < 2; runs++) await runNow(world, tenant, binding)
    platform.answer(null)
    expect((await mailedOf(connection.id)).map(({ cause }) => cause)).toEqual(['failure', 'credential'])
  })

  test('about a name that cannot be pushed, once until a run succeeds', async () => {
    const [env, connection] = [await vaultedEnv(world, tenant), await connect(world, tenant, platform)]
    await write(world, tenant, env, 'A', '${NOWHERE}')
    const binding = await bind(world, tenant, connection, [env], newAppName())
    for (let runs = 0; runs < 2; runs++) expect((await runNow(world, tenant, binding)).status).toBe('partial')
    expect((await mailedOf(connection.id)).map(({ cause }) => cause)).toEqual(['failure'])
    await write(world, tenant, env, 'A', '1')
    await runNow(world, tenant, binding)
    await write(world, tenant, env, 'A', '${NOWHERE}')
    await runNow(world, tenant, binding)
    expect((await mailedOf(connection.id)).length).toBe(2)
  })
})

test('one statement that writes to several environments records one change for each', async () => {
  const [one, two] = [await vaultedEnv(world, tenant), await vaultedEnv(world, tenant)]
  for (const env of [one, two]) for (const name of ['A', 'B']) await write(world, tenant, env, name, '1')
  await bind(world, tenant, await connect(world, tenant, platform), [one], newAppName())
  const rewritten = [one.id, two.id].sort()
  const { db } = world.server.context
  const noted = await db.transaction(async (tx) => {
    await tx.rows('delete from sync_changes where org_id = $1', [tenant.orgId])
    await tx.rows('update secrets set updated_at = updated_at where environment_id = any($1::text[])', [rewritten])
    return await tx.rows<{ environmentId: string }>('select environment_id from sync_changes where org_id = $1', [
      tenant.orgId,
    ])
  })
  expect(noted.map(({ environmentId }) => environmentId).sort()).toEqual(rewritten)
})

test('two bindings of one destination run one after the other, at the pace that the provider allows', async () => {
  const [connection, app] = [await connect(world, tenant, platform), newAppName()]
  const bindings = []
  for (const prefix of ['A_', 'B_', 'C_']) {
    const env = await vaultedEnv(world, tenant)
    await write(world, tenant, env, 'NAME', prefix)
    bindings.push(await bind(world, tenant, connection, [env], app, { nameTransform: { prefix } }))
  }
  const runs = await Promise.all(bindings.map((binding) => runNow(world, tenant, binding)))
  expect(runs.map(({ status }) => status)).toEqual(['succeeded', 'succeeded', 'succeeded'])
  expect(held(app)).toEqual({ A_NAME: 'A_', B_NAME: 'B_', C_NAME: 'C_' })
  expect(platform.atOnceMax()).toBe(1)
  const times = platform.pushes.filter((push) => push.app === app).map(({ atMs }) => atMs)
  for (const [index, at] of times.entries())
    if (index > 0) expect(at - (times[index - 1] as number)).toBeGreaterThan(900)
})
