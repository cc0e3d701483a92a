import { apps } from '@skerry/contract/apps'
import { branches } from '@skerry/contract/envs'
import { grants } from '@skerry/contract/grants'
import { composition, groups } from '@skerry/contract/groups'
import { secrets } from '@skerry/contract/secrets'
import { tokens } from '@skerry/contract/tokens'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { ciphertext, publicKeyJwk, wrappedKey } from '../../test/blobs.ts'
import { engine } from '../../test/engine.ts'
import { decide, newGuarded, proposePut } from '../../test/guarded.ts'
import { type Actor, newApp, newEnv, newGroup, newMember, newToken, signUp, type Tenant } from '../../test/tenant.ts'
import { until } from '../../test/until.ts'
import { openWorld, type World } from '../../test/world.ts'
import { newId } from './context.ts'

// What a request hangs on may be deleted between its check and its write. Here it always is: the deletion holds its row
// until the request waits for it. (The embedded database runs one transaction at a time, so there the request comes after.)

let world: World
let tenant: Tenant
let appId: string
let envId: string
let groupId: string
let grantee: string
let guardedId: string
let changeId: string
let reviewer: Actor
beforeAll(async () => {
  world = await openWorld()
  tenant = await signUp(world)
  reviewer = await newMember(world, tenant, 'admin')
})
afterAll(() => world.close())

const as = () => ({ as: tenant.admin.as })
const org = () => ({ orgId: tenant.orgId })
const dek = () => ({ wrappedDek: wrappedKey() })

/** Deletes a row in a transaction that stays open until told to commit. */
async function deleteAndHold(id: string) {
  const tables = { app: 'applications', env: 'environments', grp: 'groups' } as const
  const deleted = Promise.withResolvers<void>()
  const released = Promise.withResolvers<void>()
  const transaction = world.server.context.db.transaction(async (tx) => {
    await tx.rows(`delete from ${tables[id.slice(0, 3) as keyof typeof tables]} where id = '${id}'`)
    deleted.resolve()
    await released.promise
  })
  await Promise.race([deleted.promise, transaction])
  return {
    commit: () => {
      released.resolve()
      return transaction
    },
  }
}

async function waits(): Promise<boolean> {
  const waiting = `select 1 from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`
  return (await world.server.context.db.row(waiting)) !== undefined
}

test.each([
  [
    'a secret into an environment',
    () => envId,
    () =>
      world.call(secrets.put, {
        ...as(),
        params: { ...org(), envId, name: 'A' },
        body: { ciphertext: ciphertext() },
      }),
  ],
  [
    'a change proposed in an environment',
    () => guardedId,
    () =>
      world.call(secrets.put, {
        ...as(),
        params: { ...org(), envId: guardedId, name: 'B' },
        body: { ciphertext: ciphertext() },
      }),
  ],
  [
    'a change of an environment that is approved',
    () => guardedId,
    () => decide(world, tenant, 'approve', changeId, reviewer),
  ],
  [
    'a key grant on an environment',
    () => envId,
    () =>
      world.call(grants.create, {
        ...as(),
        params: { ...org(), envId },
        body: { principalType: 'service_token', principalId: grantee, ...dek() },
      }),
  ],
  [
    'a branch of an environment',
    () => envId,
    () => world.call(branches.create, { ...as(), params: { ...org(), envId }, body: { slug: 'fork', ...dek() } }),
  ],
  [
    'a group composed into an environment',
    () => envId,
    () => world.call(composition.set, { ...as(), params: { ...org(), envId }, body: { groupId } }),
  ],
  [
    'a composition of a group',
    () => groupId,
    () => world.call(composition.set, { ...as(), params: { ...org(), envId }, body: { groupId } }),
  ],
  [
    'a token bound to an environment',
    () => envId,
    () =>
      world.call(tokens.create, {
        ...as(),
        params: org(),
        body: {
          name: 'bound',
          tokenId: newId('serviceToken'),
          tokenHash: 'A'.repeat(43),
          publicKeyJwk: publicKeyJwk(),
          environmentId: envId,
        },
      }),
  ],
  [
    'an environment of an application',
    () => appId,
    () =>
      world.call(apps.createEnv, { ...as(), params: { ...org(), appId }, body: { name: 'x', slug: 'x', ...dek() } }),
  ],
  [
    'an environment of a group',
    () => groupId,
    () =>
      world.call(groups.createEnv, {
        ...as(),
        params: { ...org(), groupId },
        body: { name: 'x', slug: 'x', ...dek() },
      }),
  ],
])('%s that is being deleted is not found', async (_, target, request) => {
  appId = (await newApp(world, tenant)).id
  envId = (await newEnv(world, tenant, appId)).id
  groupId = (await newGroup(world, tenant)).id
  grantee = (await newToken(world, tenant)).id
  guardedId = await newGuarded(world, tenant)
  changeId = (await proposePut(world, tenant, guardedId, 'A')).id
  const deletion = await deleteAndHold(target())
  const pending = request()
  if (engine() === 'postgres') await until('the request waits for the deletion', waits)
  await deletion.commit()
  const answer = await pending
  expect([answer.status, answer.error?.code]).toEqual([404, 'not_found'])
})
