import { grants } from '@skerry/contract/grants/endpoints'
import { invites } from '@skerry/contract/members/endpoints'
import { teams } from '@skerry/contract/teams/endpoints'
import { describe, expect, test } from 'vitest'
import { publicKeyJwk, wrappedKey } from '../../../test/blobs.ts'
import { openTeams } from '../../../test/team-scene.ts'
import {
  type Actor,
  acceptInvites,
  grantKey,
  newMember,
  newPerson,
  newTeam,
  newToken,
  signUp,
} from '../../../test/tenant.ts'
import { newId } from '../../kernel/context.ts'

// Keys that people should have because of a team, a plan or an invitation.

const {
  world,
  tenant,
  orgId,
  admin,
  newPlace,
  show,
  missingOf,
  keyOf,
  ownKey,
  rowFor,
  give,
  resultsOf,
  reads,
  trail,
  leave,
} = await openTeams()

describe('a missing key', () => {
  test('is listed for each person and environment with the teams that ask, until it is granted', async () => {
    const [one, two, person] = [await newPlace(), await newPlace(), await newMember(world, tenant)]
    const unready = await newMember(world, tenant, 'member', { keys: false })
    const team = await newTeam(world, tenant, [person.id, unready.id], [one, two])
    const other = await newTeam(world, tenant, [person.id], [two])
    const listed = await missingOf(person.id)
    expect(listed).toMatchObject([
      { environmentId: one, principalId: person.id, teamIds: [team.id], planned: false, held: true },
      { environmentId: two, teamIds: [team.id, other.id].sort(), publicKeyJwk: await keyOf(person) },
    ])
    expect(listed[0]?.label).toMatch(/\/env-\d+$/)
    expect((await missingOf(unready.id))[0]).toMatchObject({ publicKeyJwk: null })
    const keyless = await newMember(world, tenant, 'admin')
    expect((await missingOf(person.id, keyless))[0]).toMatchObject({ held: false })
    expect(await resultsOf([await rowFor(one, person), await rowFor(two, person)])).toEqual(['done', 'done'])
    expect(await missingOf(person.id)).toEqual([])
  })

  test('may be planned for a person without a team, and the grant stays when they leave a team', async () => {
    const [one, two, person] = [await newPlace(), await newPlace(), await newMember(world, tenant)]
    const plan = (environmentIds: string[]) =>
      world.call(grants.plan, { as: admin.as, params: { orgId, userId: person.id }, body: { environmentIds } })
    await grantKey(world, tenant, two, person)
    expect((await plan([one, two])).body).toEqual({ environmentIds: [one] })
    expect((await plan([one, two])).status).toBe(200)
    expect(await trail(person.id)).toContainEqual(['grant.planned', { environmentIds: [one] }])
    expect(await missingOf(person.id)).toMatchObject([{ environmentId: one, teamIds: [], planned: true }])
    expect(await resultsOf([await rowFor(one, person, { direct: false })])).toEqual(['done'])
    const team = await newTeam(world, tenant, [person.id], [one])
    expect((await leave(team.id, person.id)).body.lost).toEqual([])
    expect(await reads(person, one)).toBe(true)
    expect((await plan([])).body).toEqual({ environmentIds: [] })
  })

  test('is read from the plan by admins alone', async () => {
    const [one, two, person] = [await newPlace(), await newPlace(), await newMember(world, tenant)]
    const stranger = await signUp(world)
    const params = { orgId, userId: person.id }
    await world.call(grants.plan, { as: admin.as, params, body: { environmentIds: [one, two] } })
    const read = ({ as }: Pick<Actor, 'as'>, userId = person.id) =>
      world.call(grants.planned, { as, params: { orgId, userId } })
    expect(new Set((await read(admin)).body.environmentIds)).toEqual(new Set([one, two]))
    await grantKey(world, tenant, one, person)
    expect((await read(admin)).body).toEqual({ environmentIds: [two] })
    const answers = [await read(person), await read(stranger.admin), await read(admin, newId('user'))]
    expect(answers.map(({ status }) => status)).toEqual([403, 404, 404])
  })

  test('is listed for the person who waits for it, who sees nobody else’s', async () => {
    const [one, two] = [await newPlace(), await newPlace()]
    const [person, other] = [await newMember(world, tenant), await newMember(world, tenant)]
    const team = await newTeam(world, tenant, [person.id, other.id], [one])
    const list = (query: { userId?: string; teamId?: string }) =>
      world.call(grants.missing, { as: person.as, params: { orgId }, query })
    await world.call(grants.plan, {
      as: admin.as,
      params: { orgId, userId: person.id },
      body: { environmentIds: [two] },
    })
    const own = [
      { environmentId: one, principalId: person.id, teamIds: [team.id], held: false },
      { environmentId: two, principalId: person.id, planned: true },
    ]
    expect((await list({})).body.missing).toMatchObject(own)
    expect((await list({ userId: person.id })).body.missing).toMatchObject(own)
    expect((await list({ teamId: team.id })).body.missing).toMatchObject([own[0]])
    expect(await list({ userId: other.id })).toMatchObject({ status: 403, error: { code: 'forbidden' } })
  })

  test('comes from the invitation: its teams and environments count from the acceptance', async () => {
    const [one, two, team] = [await newPlace(), await newPlace(), await newTeam(world, tenant)]
    await world.call(teams.addEnvironments, {
      as: admin.as,
      params: { orgId, teamId: team.id },
      body: { environmentIds: [one] },
    })
    const email = 'hana@example.com'
    const invite = (body: object) =>
      world.call(invites.create, { as: admin.as, params: { orgId }, body: { email, ...body } })
    expect((await invite({ teamIds: [newId('team')] })).status).toBe(404)
    expect((await invite({ environmentIds: [newId('environment')] })).status).toBe(404)
    const sent = await invite({ teamIds: [team.id], environmentIds: [two] })
    expect(sent.body.invite).toMatchObject({ teamIds: [team.id], environmentIds: [two] })
    const person = await newPerson(world, email)
    expect((await show(team.id)).members).toEqual([])
    await acceptInvites(world, person)
    expect((await show(team.id)).members).toMatchObject([{ userId: person.id, email }])
    expect(await missingOf(person.id)).toMatchObject([
      { environmentId: one, teamIds: [team.id], planned: false },
      { environmentId: two, teamIds: [], planned: true },
    ])
    expect(await trail(person.id)).toContainEqual([
      'member.joined',
      expect.objectContaining({ teamIds: [team.id], environmentIds: [two] }),
    ])
  })
})

describe('granting several keys', () => {
  test('says for each row why it cannot be granted, and grants the others', async () => {
    const [good, foreign, gone] = [await newPlace(), await newPlace(), newId('environment')]
    const [person, keyless] = [
      await newMember(world, tenant),
      await newMember(world, tenant, 'member', { keys: false }),
    ]
    const row = await rowFor(good, person)
    const rows = [
      row,
      { ...row, environmentId: gone },
      { ...(await rowFor(foreign, person)), ownWrappedDek: wrappedKey() },
      { ...(await rowFor(foreign, person)), principalId: keyless.id },
      { ...(await rowFor(foreign, person)), principalId: newId('user') },
    ]
    expect(await resultsOf(rows)).toEqual(['done', 'no_environment', 'key_replaced', 'no_principal', 'no_principal'])
    expect(await resultsOf([row])).toEqual(['already'])
    const other = await rowFor(foreign, person)
    expect(await resultsOf([{ ...other, publicKeyJwk: publicKeyJwk() }])).toEqual(['public_key_changed'])
    expect(await resultsOf([{ ...other, direct: false }])).toEqual(['not_planned'])
    const colleague = await newMember(world, tenant, 'admin')
    expect(await resultsOf([other], colleague)).toEqual(['not_held'])
    expect(await reads(person, foreign)).toBe(false)
    expect(await give([other, other])).toMatchObject({ status: 400 })
  })

  test('gives a bound token the keys that a single grant would give it, and no other', async () => {
    const [here, there] = [await newPlace(), await newPlace()]
    const bound = await newToken(world, tenant, { environmentId: here })
    const db = world.server.context.db
    const stored = await db.row<{ publicKeyJwk: string }>('select public_key_jwk from service_tokens where id = $1', [
      bound.id,
    ])
    const rows = []
    for (const environmentId of [here, there])
      rows.push({
        environmentId,
        principalType: 'service_token' as const,
        principalId: bound.id,
        wrappedDek: wrappedKey(),
        publicKeyJwk: stored?.publicKeyJwk as string,
        ownWrappedDek: await ownKey(environmentId),
      })
    const answer = await world.call(grants.createMany, { as: admin.as, params: { orgId }, body: { grants: rows } })
    expect(answer.body.results.map(({ result, reason }) => reason ?? result)).toEqual(['done', 'bound_elsewhere'])
  })

  test('by two people at the same time succeeds for both, and gives one grant', async () => {
    const [envId, person, colleague] = [
      await newPlace(),
      await newMember(world, tenant),
      await newMember(world, tenant, 'admin'),
    ]
    await grantKey(world, tenant, envId, colleague)
    await newTeam(world, tenant, [person.id], [envId])
    const row = await rowFor(envId, person)
    const theirs = { ...row, ownWrappedDek: await ownKey(envId, colleague) }
    const answers = await Promise.all([give([row]), give([theirs], colleague)])
    const results = answers.flatMap(({ body }) => body.results)
    expect(results.map(({ result }) => result).sort()).toEqual(['already', 'done'])
    expect(results[0]?.grantId).toBe(results[1]?.grantId)
  })
})
