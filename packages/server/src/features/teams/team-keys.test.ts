import { branches } from '@skerry/contract/branches/endpoints'
import { grants } from '@skerry/contract/grants/endpoints'
import { invites, members } from '@skerry/contract/members/endpoints'
import { rekey } from '@skerry/contract/rekey/endpoints'
import { teams } from '@skerry/contract/teams/endpoints'
import { describe, expect, test } from 'vitest'
import { wrappedKey } from '../../../test/blobs.ts'
import { openTeams } from '../../../test/team-scene.ts'
import { type Actor, acceptInvites, grantKey, newMember, newTeam } from '../../../test/tenant.ts'

// Keys that end with a team, and keys that nobody asks for again.

const {
  at,
  world,
  tenant,
  orgId,
  admin,
  newPlace,
  show,
  missingOf,
  rowFor,
  give,
  resultsOf,
  reads,
  trail,
  leave,
  join,
} = await openTeams()

describe('a key that a team gave', () => {
  test('ends with the team, and the answer names the environments and people', async () => {
    const [envId, person] = [await newPlace(), await newMember(world, tenant)]
    const team = await newTeam(world, tenant, [person.id], [envId])
    await give([await rowFor(envId, person)])
    const lost = [{ environmentId: envId, label: expect.stringMatching(/\/env-\d+$/), userIds: [person.id] }]
    expect((await leave(team.id, person.id)).body).toEqual({ lost })
    expect(await reads(person, envId)).toBe(false)
    expect((await trail(team.id))[0]).toEqual([
      'team.member_removed',
      { userId: person.id, grants: 1, environmentIds: [envId] },
    ])
    expect((await leave(team.id, person.id)).status).toBe(404)

    await join(team.id, [person.id])
    await give([await rowFor(envId, person)])
    const params = { orgId, teamId: team.id, envId }
    expect((await world.call(teams.removeEnvironment, { as: admin.as, params })).body).toEqual({ lost })
    expect(await reads(person, envId)).toBe(false)

    await world.call(teams.addEnvironments, { as: admin.as, params, body: { environmentIds: [envId] } })
    await give([await rowFor(envId, person)])
    expect((await world.call(teams.delete, { as: admin.as, params })).body).toEqual({ lost })
    expect(await reads(person, envId)).toBe(false)
    expect(await missingOf(person.id)).toEqual([])
  })

  test('stays while another team asks for it, and if it was granted directly before or after', async () => {
    const [shared, before, after] = [await newPlace(), await newPlace(), await newPlace()]
    const person = await newMember(world, tenant)
    await grantKey(world, tenant, before, person)
    const team = await newTeam(world, tenant, [person.id], [shared, before, after])
    const other = await newTeam(world, tenant, [person.id], [shared])
    await give([await rowFor(shared, person), await rowFor(after, person)])
    expect((await grantKey(world, tenant, after, person)).environmentId).toBe(after)
    expect((await leave(team.id, person.id)).body.lost).toEqual([])
    expect((await leave(other.id, person.id)).body.lost).toMatchObject([{ environmentId: shared }])
    expect([await reads(person, before), await reads(person, after)]).toEqual([true, true])
  })

  test('takes the keys of branches along that came with it, and leaves a branch key that was granted directly', async () => {
    const [envId, person] = [await newPlace(), await newMember(world, tenant)]
    const team = await newTeam(world, tenant, [person.id], [envId])
    await give([await rowFor(envId, person)])
    const fork = async (slug: string, holders: Actor[]) => {
      const given = holders.map(({ id }) => ({
        principalType: 'user' as const,
        principalId: id,
        wrappedDek: wrappedKey(),
      }))
      const body = { slug, wrappedDek: wrappedKey(), ttlSeconds: null, grants: given }
      return (await world.call(branches.create, { as: admin.as, params: { orgId, envId }, body })).body.branch.id
    }
    const [inherited, direct] = [await fork('inherited', [person]), await fork('direct', [])]
    await grantKey(world, tenant, direct, person)
    const { lost } = (await leave(team.id, person.id)).body
    expect(lost.map(({ environmentId }) => environmentId).sort()).toEqual([envId, inherited].sort())
    expect([await reads(person, inherited), await reads(person, direct)]).toEqual([false, true])
  })

  test('is not asked for again after it was revoked, until somebody grants it to the person', async () => {
    const [envId, person] = [await newPlace(), await newMember(world, tenant)]
    const team = await newTeam(world, tenant, [person.id], [envId])
    expect((await show(team.id)).environments).toMatchObject([{ missing: 1, lockedOut: [] }])
    const { results } = (await give([await rowFor(envId, person)])).body
    const grantId = results[0]?.grantId as string
    await world.call(grants.delete, { as: admin.as, params: { orgId, envId, grantId } })
    expect(await missingOf(person.id)).toEqual([])
    expect((await show(team.id)).environments).toMatchObject([
      { environmentId: envId, missing: 0, lockedOut: [person.id] },
    ])
    expect(await resultsOf([await rowFor(envId, person, { direct: false })])).toEqual(['not_planned'])
    expect((await join(team.id, [person.id])).status).toBe(200)
    expect(await missingOf(person.id)).toEqual([])
    expect(await resultsOf([await rowFor(envId, person)])).toEqual(['done'])
    expect((await show(team.id)).environments).toMatchObject([{ lockedOut: [] }])
  })

  test('is not asked for by another team of a person who was locked out, or after temporary access', async () => {
    const [envId, person] = [await newPlace(), await newMember(world, tenant)]
    const first = await newTeam(world, tenant, [person.id], [envId])
    await give([await rowFor(envId, person)])
    const kept = [{ principalType: 'service_token' as const, principalId: admin.id, wrappedDek: wrappedKey() }]
    const body = { expectedVersions: {}, grants: kept, secrets: [] }
    await world.call(rekey.run, { as: admin.as, params: { orgId, envId }, body })
    const second = await newTeam(world, tenant, [person.id], [envId])
    await world.call(teams.delete, { as: admin.as, params: { orgId, teamId: first.id } })
    expect(await missingOf(person.id)).toEqual([])
    expect((await show(second.id)).environments).toMatchObject([{ lockedOut: [person.id] }])
    const holder = { principalType: 'user' as const, principalId: person.id, wrappedDek: wrappedKey() }
    const given = { as: admin.as, params: { orgId, envId }, body: { ...holder, seconds: 600 } }
    expect((await world.call(grants.create, given)).status).toBe(201)
    world.clock.advance(600)
    expect(await missingOf(person.id)).toEqual([])
    await grantKey(world, tenant, envId, person)
    expect((await show(second.id)).environments).toMatchObject([{ lockedOut: [] }])
  })

  test('is not asked for again after a re-key locked the person out, and neither is a plan', async () => {
    const [envId, person] = [await newPlace(), await newMember(world, tenant)]
    const team = await newTeam(world, tenant, [person.id], [envId])
    await give([await rowFor(envId, person)])
    const kept = [{ principalType: 'service_token' as const, principalId: admin.id, wrappedDek: wrappedKey() }]
    const body = { expectedVersions: {}, grants: kept, secrets: [] }
    expect((await world.call(rekey.run, { as: admin.as, params: { orgId, envId }, body })).status).toBe(200)
    expect(await missingOf(person.id)).toEqual([])
    expect((await show(team.id)).environments).toMatchObject([{ lockedOut: [person.id] }])
    // Only admins learn who is locked out, and how many keys are missing.
    const seen = await world.call(teams.get, { ...at(person), params: { orgId, teamId: team.id } })
    expect(seen.body.environments).toMatchObject([{ environmentId: envId, missing: null, lockedOut: [] }])
    await grantKey(world, tenant, envId, person)
    expect((await show(team.id)).environments).toMatchObject([{ lockedOut: [] }])
  })

  test('ends with the membership, and a person who comes back is in no team', async () => {
    const [envId, email] = [await newPlace(), 'returns@example.com']
    const person = await newMember(world, tenant, 'member', { email })
    const team = await newTeam(world, tenant, [person.id], [envId])
    await give([await rowFor(envId, person)])
    await world.call(members.remove, { as: admin.as, params: { orgId, userId: person.id } })
    await world.call(invites.create, { as: admin.as, params: { orgId }, body: { email } })
    await acceptInvites(world, person)
    expect((await show(team.id)).members).toEqual([])
    expect([await reads(person, envId), await missingOf(person.id)]).toEqual([false, []])
  })
})
