import { apps } from '@skerry/contract/apps/endpoints'
import { branches } from '@skerry/contract/branches/endpoints'
import { envs } from '@skerry/contract/envs/endpoints'
import { grants } from '@skerry/contract/grants/endpoints'
import { composition, groups } from '@skerry/contract/groups/endpoints'
import { invites } from '@skerry/contract/members/endpoints'
import { overrides } from '@skerry/contract/overrides/endpoints'
import { secrets } from '@skerry/contract/secrets/endpoints'
import { tokens } from '@skerry/contract/tokens/endpoints'
import { expect, test } from 'vitest'
import { ciphertext, publicKeyJwk, wrappedKey } from '../../test/blobs.ts'
import { engine } from '../../test/engine.ts'
import { decide, newGuarded, proposePut } from '../../test/guarded.ts'
import { held, waiting } from '../../test/held.ts'
import { overrideOf } from '../../test/override-steps.ts'
import { openTenant } from '../../test/scene.ts'
import {
  type Actor,
  grantKey,
  invitePerson,
  newApp,
  newEnv,
  newGroup,
  newMember,
  newToken,
  putSecret,
} from '../../test/tenant.ts'
import { until } from '../../test/until.ts'
import { newId } from '../kernel/context.ts'

// The row that a request depends on may be deleted between its check and its write. These tests force that: the
// deletion locks the row until the request waits for it. (The embedded database runs one transaction at a time, so
// there the request runs after the deletion.)

const { world, tenant } = await openTenant()
const reviewer = await newMember(world, tenant, 'admin')
let appId: string
let envId: string
let groupId: string
let grantee: string
let overrider: Actor
let override: Awaited<ReturnType<typeof overrideOf>>
let guardedId: string
let changeId: string
let inviteId: string

const as = () => ({ as: tenant.admin.as })
const org = () => ({ orgId: tenant.orgId })
const dek = () => ({ wrappedDek: wrappedKey() })

const rows = {
  app: 'applications where id',
  env: 'environments where id',
  grp: 'groups where id',
  inv: 'invitations where id',
  sec: 'secrets where id',
  usr: 'memberships where user_id',
} as const

interface Refused {
  status: number
  error: { code: string } | undefined
}

async function whileDeleting(id: string, request: () => Promise<Refused>): Promise<Refused> {
  const { db } = world.server.context
  const deletion = await held(db, (tx) => tx.rows(`delete from ${rows[id.slice(0, 3) as keyof typeof rows]} = '${id}'`))
  const pending = request()
  if (engine() === 'postgres') await until('the request waits for the deletion', async () => (await waiting(db)) > 0)
  await deletion.commit()
  return pending
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
  [
    'an override in an environment',
    () => envId,
    () =>
      world.call(overrides.create, {
        as: overrider.as,
        params: { ...org(), envId },
        body: { ...override, seen: [] },
      }),
  ],
  [
    'an override of a member',
    () => overrider.id,
    () =>
      world.call(overrides.create, {
        as: overrider.as,
        params: { ...org(), envId },
        body: { ...override, seen: [] },
      }),
  ],
  [
    'the name of an application',
    () => appId,
    () => world.call(apps.update, { ...as(), params: { ...org(), appId }, body: { name: 'x' } }),
  ],
  [
    'the name of a group',
    () => groupId,
    () => world.call(groups.update, { ...as(), params: { ...org(), groupId }, body: { name: 'x' } }),
  ],
  [
    'the name of an environment',
    () => envId,
    () => world.call(envs.update, { ...as(), params: { ...org(), envId }, body: { name: 'x' } }),
  ],
  ['an application', () => appId, () => world.call(apps.delete, { ...as(), params: { ...org(), appId } })],
  ['a group', () => groupId, () => world.call(groups.delete, { ...as(), params: { ...org(), groupId } })],
  ['an environment', () => envId, () => world.call(envs.delete, { ...as(), params: { ...org(), envId } })],
  // Accepting an invitation deletes it in the same way. Then it was not revoked, and the answer must not claim that.
  ['an invitation', () => inviteId, () => world.call(invites.delete, { ...as(), params: { ...org(), inviteId } })],
])('the server answers 404 for %s that is being deleted', async (_, target, request) => {
  appId = (await newApp(world, tenant)).id
  envId = (await newEnv(world, tenant, appId)).id
  groupId = (await newGroup(world, tenant)).id
  grantee = (await newToken(world, tenant)).id
  overrider = await newMember(world, tenant)
  override = await overrideOf(world, overrider)
  await grantKey(world, tenant, envId, overrider)
  guardedId = await newGuarded(world, tenant)
  changeId = (await proposePut(world, tenant, guardedId, 'A')).id
  inviteId = (await invitePerson(world, tenant, `${envId}@example.com`)).body.invite.id
  const answer = await whileDeleting(target(), request)
  expect([answer.status, answer.error?.code]).toEqual([404, 'not_found'])
})

test.each([
  [
    'by making an environment',
    (person: Actor) =>
      world.call(apps.createEnv, {
        as: person.as,
        params: { ...org(), appId },
        body: { name: 'theirs', slug: 'theirs', ...dek() },
      }),
  ],
  [
    'by another person’s fork',
    (person: Actor) =>
      world.call(branches.create, {
        ...as(),
        params: { ...org(), envId },
        body: { slug: 'shared', ...dek(), grants: [{ principalType: 'user', principalId: person.id, ...dek() }] },
      }),
  ],
])('a member who is being removed gets no key %s that they would have if they came back', async (_, request) => {
  appId = (await newApp(world, tenant)).id
  envId = (await newEnv(world, tenant, appId)).id
  const person = await newMember(world, tenant, 'admin')
  await grantKey(world, tenant, envId, person)
  const answer = await whileDeleting(person.id, () => request(person))
  expect(answer.status).toBeGreaterThanOrEqual(400)
  const { db } = world.server.context
  expect(await db.rows('select 1 from key_grants where principal_id = $1', [person.id])).toEqual([])
})

test('a write with an expected version is a conflict if the secret is being deleted, and creates none', async () => {
  envId = (await newEnv(world, tenant, (await newApp(world, tenant)).id)).id
  const { id } = await putSecret(world, tenant, envId, 'A')
  const answer = await whileDeleting(id, () =>
    world.call(secrets.put, {
      ...as(),
      params: { ...org(), envId, name: 'A' },
      body: { ciphertext: ciphertext(), expectedVersion: 1 },
    }),
  )
  expect([answer.status, answer.error?.code]).toEqual([409, 'conflict'])
  const { db } = world.server.context
  expect(await db.rows('select 1 from secrets where environment_id = $1', [envId])).toEqual([])
})
