import { accessRequests } from '@skerry/contract/access-requests/endpoints'
import { apps } from '@skerry/contract/apps/endpoints'
import { branches } from '@skerry/contract/branches/endpoints'
import { changes } from '@skerry/contract/changes/endpoints'
import { envs } from '@skerry/contract/envs/endpoints'
import { grants } from '@skerry/contract/grants/endpoints'
import { composition } from '@skerry/contract/groups/endpoints'
import { me } from '@skerry/contract/me/endpoints'
import { rekey } from '@skerry/contract/rekey/endpoints'
import { resolve } from '@skerry/contract/resolve/endpoints'
import { secrets } from '@skerry/contract/secrets/endpoints'
import { teams } from '@skerry/contract/teams/endpoints'
import { beforeAll, describe, expect, test } from 'vitest'
import { ciphertext, wrappedKey } from '../../../test/blobs.ts'
import { proposePut, protect } from '../../../test/guarded.ts'
import { openEnv } from '../../../test/scene.ts'
import { stopSchedules } from '../../../test/state.ts'
import {
  type Actor,
  newEnv,
  newGroup,
  newGroupEnv,
  newMember,
  newTeam,
  newToken,
  putSecret,
} from '../../../test/tenant.ts'
import { deleteEndedGrants } from '../../model/grants/write.ts'
import { endGrants } from './jobs.ts'

// A job deletes ended grants some seconds later. Here it does not run, unless a test runs it.

const { world, tenant, appId } = await openEnv()
const { orgId } = tenant
beforeAll(() => stopSchedules(world))

/** Shorter than the bearers of people live. */
const span = 600

let count = 0
const newPlace = async () => (await newEnv(world, tenant, appId, `place-${++count}`)).id
const typeOf = ({ id }: Actor) => (id.startsWith('usr_') ? ('user' as const) : ('service_token' as const))
const grant = (to: Actor, id: string, more: object = { seconds: span }, by: Actor = tenant.admin) =>
  world.call(grants.create, {
    as: by.as,
    params: { orgId, envId: id },
    body: { principalType: typeOf(to), principalId: to.id, wrappedDek: wrappedKey(), ...more },
  })
const own = async ({ as }: Actor, id: string) =>
  (await world.call(grants.own, { as, params: { orgId, envId: id } })).status
const fork = (by: Actor, id: string, holders: Actor[] = []) =>
  world.call(branches.create, {
    as: by.as,
    params: { orgId, envId: id },
    body: {
      slug: `branch-${++count}`,
      wrappedDek: wrappedKey(),
      grants: holders.map((holder) => ({
        principalType: typeOf(holder),
        principalId: holder.id,
        wrappedDek: wrappedKey(),
      })),
    },
  })

describe('a grant whose time is over', () => {
  test('gives out no key and no secret, to a person or to a token', async () => {
    const place = await newPlace()
    await putSecret(world, tenant, place, 'A')
    for (const holder of [await newMember(world, tenant, 'admin'), await newToken(world, tenant, { role: 'admin' })]) {
      await grant(holder, place)
      const { as } = holder
      const params = { orgId, envId: place }
      const answers = async () => [
        await own(holder, place),
        (await world.call(resolve.get, { as, query: { env: place } })).status,
        (await world.call(secrets.list, { as, params })).status,
        (await grant(await newMember(world, tenant), place, { seconds: 300 }, holder)).status,
      ]
      expect(await answers()).toEqual([200, 200, 200, 201])
      world.clock.advance(span)
      expect(await answers()).toEqual([403, 403, 403, 403])
    }
  })

  test('is not answered from memory: an answer ends with the first grant of its layers', async () => {
    const [place, group] = [await newPlace(), await newGroup(world, tenant)]
    const shared = await newGroupEnv(world, tenant, group.id, `place-${count}`)
    const composed = { as: tenant.admin.as, params: { orgId, envId: place }, body: { groupId: group.id } }
    await world.call(composition.set, composed)
    const token = await newToken(world, tenant)
    await grant(token, place)
    await grant(token, shared.id, { seconds: 300 })
    const read = async () => (await world.call(resolve.get, { as: token.as, query: { env: place } })).status
    for (let round = 0; round < 3; round++) expect(await read()).toBe(200)
    world.clock.advance(300)
    expect(await read()).toBe(403)
  })

  test('stores no secret, also not in a group of writes', async () => {
    const [place, token] = [await newPlace(), await newToken(world, tenant)]
    await grant(token, place)
    const write = async (name: string) =>
      (
        await world.call(secrets.put, {
          as: token.as,
          params: { orgId, envId: place, name },
          body: { ciphertext: ciphertext() },
        })
      ).status
    for (const name of ['A', 'B']) expect(await write(name)).toBe(201)
    world.clock.advance(span)
    expect(await Promise.all(['A', 'C', 'D'].map(write))).toEqual([403, 403, 403])
  })

  test('is in no list of holders, and counts as a key that is missing', async () => {
    const [place, person] = [await newPlace(), await newMember(world, tenant)]
    const { body } = await grant(person, place)
    const team = await newTeam(world, tenant, [person.id], [place])
    const { as } = tenant.admin
    const params = { orgId, envId: place }
    const asPerson = { as: person.as, params: { orgId, appId } }
    const facts = async () => ({
      holders: (await world.call(grants.list, { as, params })).body.grants.length,
      readers: (await world.call(grants.readers, { as, params })).body.readers.length,
      overview: (await world.call(grants.overview, { as, params })).body.access.filter(
        ({ environmentId }) => environmentId === place,
      ).length,
      missing: (await world.call(grants.missing, { as, params, query: { teamId: team.id } })).body.missing.length,
      grantees: (await world.call(envs.grantees, { as, params })).body.grantees.length,
      canDecrypt: (await world.call(apps.envs, asPerson)).body.environments.some(
        ({ id, canDecrypt }) => id === place && canDecrypt,
      ),
      held: (await world.call(teams.get, { as: person.as, params: { orgId, teamId: team.id } })).body.environments.map(
        ({ held }) => held,
      ),
      holdings: (await world.call(me.keyHoldings, { as: person.as })).body.holdings.length,
    })
    const one = { holders: 1, readers: 1, overview: 1, grantees: 1, holdings: 0 }
    const two = { holders: 2, readers: 2, overview: 2, grantees: 2, holdings: 1 }
    expect(await facts()).toEqual({ ...two, missing: 0, canDecrypt: true, held: [true] })
    world.clock.advance(span)
    expect(await facts()).toEqual({ ...one, missing: 1, canDecrypt: false, held: [false] })
    const revoked = { as, params: { ...params, grantId: body.grant.id } }
    expect((await world.call(grants.delete, revoked)).status).toBe(404)
    // The team gives the key in place of the grant that has ended.
    const held = (await world.call(grants.own, { as, params })).body.wrappedDek
    const { publicKeyJwk } = (await world.call(me.getKeys, { as: person.as })).body
    const row = { environmentId: place, principalType: 'user' as const, principalId: person.id, publicKeyJwk }
    const given = { grants: [{ ...row, ownWrappedDek: held, wrappedDek: wrappedKey(), direct: false }] }
    const { results } = (await world.call(grants.createMany, { as, params, body: given })).body
    expect(results).toMatchObject([{ result: 'done' }])
    const leaving = { as, params: { orgId, teamId: team.id, userId: person.id } }
    expect((await world.call(teams.removeMember, leaving)).body.lost).toHaveLength(1)
    expect(await own(person, place)).toBe(403)
  })

  test('shows no value of a change request', async () => {
    const [place, person] = [await newPlace(), await newMember(world, tenant)]
    await protect(world, tenant, place)
    await grant(person, place)
    const { id: changeRequestId } = await proposePut(world, tenant, place, 'A')
    const shown = async () => {
      const one = await world.call(changes.get, { as: person.as, params: { orgId, changeRequestId } })
      const all = await world.call(changes.list, { as: person.as, params: { orgId }, query: { envId: place } })
      return [one.body.changeRequest.ciphertext, all.body.changeRequests[0]?.ciphertext].map((text) => text !== null)
    }
    expect(await shown()).toEqual([true, true])
    world.clock.advance(span)
    expect(await shown()).toEqual([false, false])
  })

  test('lets nobody fork the environment or wrap a new key to the holder', async () => {
    const [place, person] = [await newPlace(), await newMember(world, tenant)]
    await grant(person, place)
    expect((await fork(tenant.admin, place, [person])).status).toBe(201)
    const keep = (holders: Actor[]) =>
      world.call(rekey.run, {
        as: tenant.admin.as,
        params: { orgId, envId: place },
        body: {
          expectedVersions: {},
          secrets: [],
          grants: holders.map((holder) => ({
            principalType: typeOf(holder),
            principalId: holder.id,
            wrappedDek: wrappedKey(),
          })),
        },
      })
    world.clock.advance(span)
    expect((await fork(tenant.admin, place, [person])).error?.message).toContain('holds no key grant on the parent')
    expect((await fork(person, place)).status).toBe(403)
    expect((await keep([tenant.admin, person])).error?.message).toContain('holds no key grant here')
    await newTeam(world, tenant, [person.id], [place])
    expect((await keep([tenant.admin])).status).toBe(200)
    // The end is no reason to lock the person out, so the team still asks for the key.
    const query = { userId: person.id }
    const { missing } = (await world.call(grants.missing, { as: tenant.admin.as, params: { orgId }, query })).body
    expect(missing.map(({ environmentId }) => environmentId)).toEqual([place])
  })

  test('can be asked for and granted again', async () => {
    const [place, person] = [await newPlace(), await newMember(world, tenant)]
    await grant(person, place)
    const ask = () =>
      world.call(accessRequests.create, { as: person.as, params: { orgId }, body: { environmentIds: [place] } })
    expect((await ask()).status).toBe(409)
    world.clock.advance(span)
    const asked = await ask()
    expect(asked.body.request.environments).toMatchObject([{ environmentId: place, granted: false }])
    expect((await grant(person, place, {})).body.grant.endsAt).toBeNull()
    expect(await own(person, place)).toBe(200)
    await endGrants(world.server.context)
    expect(await own(person, place)).toBe(200)
  })
})

describe('the key of a branch', () => {
  test('ends with the key of the parent', async () => {
    const [place, person] = [await newPlace(), await newMember(world, tenant)]
    await grant(person, place)
    const { branch } = (await fork(tenant.admin, place, [person])).body
    expect(await own(person, branch.id)).toBe(200)
    world.clock.advance(span)
    expect(await own(person, branch.id)).toBe(403)
  })

  test('gives nobody longer access than the key of the parent', async () => {
    const [place, admin, other] = [
      await newPlace(),
      await newMember(world, tenant, 'admin'),
      await newMember(world, tenant),
    ]
    await grant(admin, place)
    const { branch } = (await fork(tenant.admin, place, [admin])).body
    expect((await grant(other, branch.id, {}, admin)).error?.message).toContain('your own access ends at')
    const held = (await world.call(grants.own, { as: admin.as, params: { orgId, envId: branch.id } })).body.wrappedDek
    const { publicKeyJwk } = (await world.call(me.getKeys, { as: other.as })).body
    const row = { environmentId: branch.id, principalType: 'user' as const, principalId: other.id, publicKeyJwk }
    const body = { grants: [{ ...row, ownWrappedDek: held, wrappedDek: wrappedKey() }] }
    const { results } = (await world.call(grants.createMany, { as: admin.as, params: { orgId }, body })).body
    expect(results).toMatchObject([{ result: 'conflict', reason: 'not_held' }])
    expect((await grant(other, branch.id, { seconds: 300 }, admin)).status).toBe(201)
  })
})

test('ended grants are deleted in parts, and all of them in one run', async () => {
  world.clock.advance(span)
  await endGrants(world.server.context) // those of the other tests
  const place = await newPlace()
  for (let n = 0; n < 3; n++) await grant(await newMember(world, tenant), place)
  world.clock.advance(span)
  const { db } = world.server.context
  const now = world.clock.now().toISOString()
  const some = await db.transaction((tx) => deleteEndedGrants(tx, now, 2))
  expect([some.count, some.grants.length]).toEqual([2, 2])
  await endGrants(world.server.context)
  expect(await db.rows('select 1 from key_grants where ends_at is not null')).toEqual([])
})
