import { rotation } from '@skerry/contract/rotation/endpoints'
import { beforeEach, describe, expect, test, vi } from 'vitest'
import { wrappedForBroker } from '../../../test/lease-steps.ts'
import { newKeyedEnv } from '../../../test/rotation-steps.ts'
import { openTenant } from '../../../test/scene.ts'
import { stateOf, stopSchedules } from '../../../test/state.ts'
import { newId } from '../../kernel/context.ts'

// These policies are as an earlier release, or a migration, may have left them: paused, with accounts that nobody has
// claimed. Resuming claims the accounts and reaches no target, so spellings that only MySQL 8 accepts can be tested.
// The tests in accounts.test.ts use real servers.

const { world, tenant } = await openTenant()
await stopSchedules(world)
const { orgId } = tenant
const { as } = tenant.admin
const { db } = world.server.context

let envId: string
beforeEach(async () => {
  await db.rows('delete from rotation_policies where org_id = $1', [orgId])
  envId = (await newKeyedEnv(world, tenant)).envId
})

let count = 0
async function newTarget(provider: string, host: string, database = 'shop'): Promise<string> {
  const id = newId('leaseTarget')
  const config = { provider, executor: 'in_broker', connection: { host, port: 3306, database } }
  await db.rows(
    `insert into lease_targets (org_id, id, name, provider, config, wrapped_admin_secret, status, notes, created_at, updated_at)
     values ($1, $2, $3, $4, $5, 'wd1.a.b.c.d', 'ready', '[]', now(), now())`,
    [orgId, id, `target-${++count}`, provider, JSON.stringify(config)],
  )
  return id
}

async function newPaused(secretName: string, targetId: string, config: { kind: string }): Promise<string> {
  const id = newId('rotation')
  await db.rows(
    `insert into rotation_policies (org_id, id, environment_id, secret_name, kind, config, interval_seconds, target_id, status,
                                    created_at, updated_at)
     values ($1, $2, $3, $4, $5, $6, 3600, $7, 'paused', now(), now())`,
    [orgId, id, envId, secretName, config.kind, JSON.stringify(config), targetId],
  )
  return id
}

const resume = (rotationId: string) =>
  world.call(rotation.update, { as, params: { orgId, rotationId }, body: { status: 'active' } })

const mysql = (username: string, userHost: string, more: object = {}) => ({
  kind: 'mysql',
  username,
  userHost,
  ...more,
})
const turns = { alternateUsername: 'app_b', usernameSecret: 'DB_USER' }

describe('the server refuses a second policy for an account', () => {
  test.each([
    ['with the same spelling', mysql('app', '%'), 'db.internal'],
    ['whose host part differs in case', mysql('app', '%.Internal'), 'db.internal', mysql('app', '%.internal')],
    ['that alternates with the first', mysql('app_b', '%'), 'db.internal', mysql('app', '%', turns)],
    [
      'that the second uses as its alternate',
      mysql('app_c', '%', { ...turns, alternateUsername: 'app' }),
      'db.internal',
    ],
    ['through a target with another database', mysql('app', '%'), 'db.internal', mysql('app', '%'), 'other'],
    ['through a target that spells the host differently', mysql('app', '%'), 'DB.internal.'],
  ] satisfies [string, object & { kind: string }, string, (object & { kind: string })?, string?][])(
    '%s',
    async (_, config, host, first = mysql('app', '%'), database = 'shop') => {
      const owner = await newPaused('FIRST', await newTarget('mysql', 'db.internal'), first)
      const other = await newPaused('SECOND', await newTarget('mysql', host, database), config)
      expect((await resume(owner)).status).toBe(200)
      const before = await stateOf(world)
      const { status, error } = await resume(other)
      expect([status, error?.message]).toEqual([
        409,
        expect.stringMatching(/^the policy of FIRST rotates the account \w+ already/),
      ])
      expect(await stateOf(world)).toEqual(before)
    },
  )
})

describe('the server accepts a second policy for', () => {
  test.each([
    ['a user name in another case', mysql('App', '%'), 'db.internal', 'mysql'],
    ['another host part', mysql('app', '10.%'), 'db.internal', 'mysql'],
    ['an account on another server', mysql('app', '%'), 'db2.internal', 'mysql'],
    ['an account on another kind of server', { kind: 'redis', username: 'app' }, 'db.internal', 'redis'],
  ])('%s', async (_, config, host, provider) => {
    const owner = await newPaused('FIRST', await newTarget('mysql', 'db.internal'), mysql('app', '%'))
    const other = await newPaused('SECOND', await newTarget(provider, host), config)
    expect([(await resume(owner)).status, (await resume(other)).status]).toEqual([200, 200])
  })
})

test('deleting a policy frees its account for another policy', async () => {
  const targetId = await newTarget('mysql', 'db.internal')
  const first = await newPaused('FIRST', targetId, mysql('app', '%'))
  const second = await newPaused('SECOND', targetId, mysql('app', '%'))
  expect([(await resume(first)).status, (await resume(second)).status]).toEqual([200, 409])
  await world.call(rotation.delete, { as, params: { orgId, rotationId: first }, query: { force: 'true' } })
  expect((await resume(second)).status).toBe(200)
})

test('changing the account of a policy frees the old account for another policy', async () => {
  const targetId = await newTarget('mysql', 'db.internal')
  const wrapped = await wrappedForBroker(world, tenant, 'mysql://skerry:secret@db.internal:3306/shop')
  await db.rows('update lease_targets set wrapped_admin_secret = $2 where id = $1', [targetId, wrapped])
  const first = await newPaused('FIRST', targetId, mysql('app', '%'))
  const [second, third] = [
    await newPaused('SECOND', targetId, mysql('app', '%')),
    await newPaused('THIRD', targetId, mysql('other', '%')),
  ]
  expect((await resume(first)).status).toBe(200)
  const onAccount = vi.spyOn(world.server.context.adapters, 'onAccount').mockResolvedValue(undefined)
  const body = { config: mysql('other', '%') }
  const changed = await world.call(rotation.update, { as, params: { orgId, rotationId: first }, body: body as never })
  expect([changed.status, onAccount.mock.calls.length]).toEqual([200, 1])
  onAccount.mockRestore()
  expect([(await resume(second)).status, (await resume(third)).status]).toEqual([200, 409])
})
