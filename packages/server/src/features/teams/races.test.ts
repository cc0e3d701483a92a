import { grants } from '@skerry/contract/grants/endpoints'
import { me } from '@skerry/contract/me/endpoints'
import { members } from '@skerry/contract/members/endpoints'
import { rekey } from '@skerry/contract/rekey/endpoints'
import { teams } from '@skerry/contract/teams/endpoints'
import { describe, expect, test } from 'vitest'
import { wrappedKey } from '../../../test/blobs.ts'
import { engine } from '../../../test/engine.ts'
import { held, waiting } from '../../../test/held.ts'
import { openTenant } from '../../../test/scene.ts'
import { type Actor, grantKey, newApp, newEnv, newMember, newTeam } from '../../../test/tenant.ts'
import { until } from '../../../test/until.ts'
import { lockOrg } from '../../model/organizations/table.ts'

const { world, tenant } = await openTenant()
const { db } = world.server.context
const { orgId, admin } = tenant
const { as } = admin
const params = { orgId }
const appId = (await newApp(world, tenant)).id

let count = 0
const newPlace = async () => (await newEnv(world, tenant, appId, `place-${++count}`)).id
const rowFor = async (environmentId: string, person: Actor, by = as) => {
  const own = await world.call(grants.own, { as: by, params: { orgId, envId: environmentId } })
  const { publicKeyJwk } = (await world.call(me.getKeys, { as: person.as })).body
  const holder = { principalType: 'user' as const, principalId: person.id, publicKeyJwk, direct: false }
  return { environmentId, ...holder, wrappedDek: wrappedKey(), ownWrappedDek: own.body.wrappedDek }
}
type Row = Awaited<ReturnType<typeof rowFor>>
const give = async (row: Row, by = as) =>
  (await world.call(grants.createMany, { as: by, params, body: { grants: [row] } })).body.results[0]
const leave = (teamId: string, userId: string) =>
  world.call(teams.removeMember, { as, params: { orgId, teamId, userId } })
const grantsOf = async (envId: string, userId: string) =>
  (await world.call(grants.list, { as, params: { orgId, envId } })).body.grants.filter(
    ({ principalId }) => principalId === userId,
  )
/** Sends both requests while the organization is locked, in this order, so that they meet. */
async function together<A, B>(first: () => Promise<A>, second: () => Promise<B>): Promise<[A, B]> {
  const gate = await held(db, (tx) => lockOrg(tx, { id: orgId }))
  const one = first()
  if (engine() === 'postgres') await until('the first one waits', async () => (await waiting(db)) >= 1)
  const two = second()
  if (engine() === 'postgres') await until('both wait', async () => (await waiting(db)) >= 2).finally(gate.commit)
  await gate.commit()
  return Promise.all([one, two])
}

describe('keys that a team asks for', () => {
  test('are granted once if two people grant them at once, and both are told', async () => {
    for (let round = 0; round < 5; round++) {
      const [envId, person, other] = [
        await newPlace(),
        await newMember(world, tenant),
        await newMember(world, tenant, 'admin'),
      ]
      await newTeam(world, tenant, [person.id], [envId])
      await grantKey(world, tenant, envId, other)
      const rows = [await rowFor(envId, person), await rowFor(envId, person, other.as)] as const
      const answers = await together(
        () => give(rows[0]),
        () => give(rows[1], other.as),
      )
      expect(answers.map((answer) => answer?.result).sort()).toEqual(['already', 'done'])
      expect(new Set(answers.map((answer) => answer?.grantId)).size).toBe(1)
      expect(await grantsOf(envId, person.id)).toHaveLength(1)
    }
  })

  test('are not held by a person who leaves the team while they are granted, in either order', async () => {
    for (const isLeavingFirst of [true, false]) {
      const [envId, person] = [await newPlace(), await newMember(world, tenant)]
      const team = await newTeam(world, tenant, [person.id], [envId])
      const row = await rowFor(envId, person)
      const [leaving, giving] = [() => leave(team.id, person.id), () => give(row)]
      const answers = isLeavingFirst ? await together(leaving, giving) : (await together(giving, leaving)).toReversed()
      expect((answers[0] as Awaited<ReturnType<typeof leave>>).status).toBe(200)
      // Only PostgreSQL shows which request waits first. On the embedded engine, either one may come first.
      if (engine() === 'postgres')
        expect(answers[1]).toMatchObject(isLeavingFirst ? { reason: 'not_planned' } : { result: 'done' })
      expect(await grantsOf(envId, person.id)).toEqual([])
    }
  })

  test('are not held by anybody if the team is deleted while they are granted, in either order', async () => {
    for (const isDeletedFirst of [true, false]) {
      const [envId, person] = [await newPlace(), await newMember(world, tenant)]
      const team = await newTeam(world, tenant, [person.id], [envId])
      const row = await rowFor(envId, person)
      const deleting = () => world.call(teams.delete, { as, params: { orgId, teamId: team.id } })
      const giving = () => give(row)
      await (isDeletedFirst ? together(deleting, giving) : together(giving, deleting))
      expect(await grantsOf(envId, person.id)).toEqual([])
    }
  })

  test('are not given back by a grant that meets a revocation', async () => {
    for (const isRevokedFirst of [true, false]) {
      const [envId, person] = [await newPlace(), await newMember(world, tenant)]
      await newTeam(world, tenant, [person.id], [envId])
      const row = await rowFor(envId, person)
      const grantId = (await give(row))?.grantId as string
      const revoking = () => world.call(grants.delete, { as, params: { orgId, envId, grantId } })
      const giving = () => give(row)
      await (isRevokedFirst ? together(revoking, giving) : together(giving, revoking))
      expect(await grantsOf(envId, person.id)).toEqual([])
    }
  })

  test('are not given back by a grant that meets a re-key, or the removal of the person', async () => {
    for (let round = 0; round < 5; round++) {
      const [envId, person, leaver] = [await newPlace(), await newMember(world, tenant), await newMember(world, tenant)]
      await newTeam(world, tenant, [person.id, leaver.id], [envId])
      const [row, ofLeaver] = [await rowFor(envId, person), await rowFor(envId, leaver)]
      await give(row)
      const kept = [{ principalType: 'service_token' as const, principalId: admin.id, wrappedDek: wrappedKey() }]
      const body = { expectedVersions: {}, grants: kept, secrets: [] }
      await Promise.all([
        world.call(rekey.run, { as, params: { orgId, envId }, body }),
        give(row),
        give(ofLeaver),
        world.call(members.remove, { as, params: { orgId, userId: leaver.id } }),
      ])
      expect([await grantsOf(envId, person.id), await grantsOf(envId, leaver.id)]).toEqual([[], []])
    }
  })
})
