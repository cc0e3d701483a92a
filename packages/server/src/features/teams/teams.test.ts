import { audit } from '@skerry/contract/audit/endpoints'
import { branches } from '@skerry/contract/branches/endpoints'
import { grants } from '@skerry/contract/grants/endpoints'
import { limits } from '@skerry/contract/limits'
import { me } from '@skerry/contract/me/endpoints'
import { invites, members } from '@skerry/contract/members/endpoints'
import { rekey } from '@skerry/contract/rekey/endpoints'
import { teams } from '@skerry/contract/teams/endpoints'
import { describe, expect, test } from 'vitest'
import { publicKeyJwk, wrappedKey } from '../../../test/blobs.ts'
import { openTenant } from '../../../test/scene.ts'
import {
  type Actor,
  acceptInvites,
  grantKey,
  newApp,
  newEnv,
  newMember,
  newPerson,
  newTeam,
  newToken,
  signUp,
} from '../../../test/tenant.ts'
import { newId } from '../../kernel/context.ts'

const { world, tenant } = await openTenant()
const { orgId, admin } = tenant
const appId = (await newApp(world, tenant)).id

let count = 0
const newPlace = async () => (await newEnv(world, tenant, appId, `env-${++count}`)).id
const at = (actor: Pick<Actor, 'as'>, params: Record<string, string> = {}) => ({
  as: actor.as,
  params: { orgId, ...params } as { orgId: string } & Record<string, string>,
})
const show = async (teamId: string) => (await world.call(teams.get, { ...at(admin), params: { orgId, teamId } })).body
const missingOf = async (userId: string, actor: Pick<Actor, 'as'> = admin) =>
  (await world.call(grants.missing, { as: actor.as, params: { orgId }, query: { userId } })).body.missing
const keyOf = async ({ as }: Pick<Actor, 'as'>) => (await world.call(me.getKeys, { as })).body.publicKeyJwk as string
const ownKey = async (envId: string, { as }: Pick<Actor, 'as'> = admin) =>
  (await world.call(grants.own, { as, params: { orgId, envId } })).body.wrappedDek

/** A row of a request that grants the key of an environment to a person. */
const rowFor = async (environmentId: string, person: Actor, more: { direct?: boolean } = {}) => ({
  environmentId,
  principalType: 'user' as const,
  principalId: person.id,
  wrappedDek: wrappedKey(),
  publicKeyJwk: await keyOf(person),
  ownWrappedDek: await ownKey(environmentId),
  ...more,
})
type Row = Awaited<ReturnType<typeof rowFor>>
const give = async (rows: Row[], actor: Pick<Actor, 'as'> = admin) =>
  await world.call(grants.createMany, { as: actor.as, params: { orgId }, body: { grants: rows } })
const resultsOf = async (rows: Row[], actor: Pick<Actor, 'as'> = admin) =>
  (await give(rows, actor)).body.results.map(({ result, reason }) => reason ?? result)
const reads = async (person: Pick<Actor, 'as'>, envId: string) =>
  (await world.call(grants.own, { as: person.as, params: { orgId, envId } })).status === 200
const trail = async (resourceId: string) => {
  const query = { resourceId }
  const { entries } = (await world.call(audit.list, { as: admin.as, params: { orgId }, query })).body
  return entries.map(({ action, metadata }) => [action, metadata])
}
const leave = (teamId: string, userId: string) =>
  world.call(teams.removeMember, { as: admin.as, params: { orgId, teamId, userId } })
const join = (teamId: string, userIds: string[]) =>
  world.call(teams.addMembers, { as: admin.as, params: { orgId, teamId }, body: { userIds } })

describe('a team', () => {
  test('has a name of its own, whatever the case, and is renamed and deleted once', async () => {
    const { id: teamId } = await newTeam(world, tenant)
    const named = (name: string) => world.call(teams.create, { as: admin.as, params: { orgId }, body: { name } })
    const rename = (name: string) =>
      world.call(teams.update, { as: admin.as, params: { orgId, teamId }, body: { name } })
    expect((await rename('Payments')).body.team).toMatchObject({ name: 'Payments', members: 0, environments: 0 })
    expect((await rename('Payments')).status).toBe(200)
    expect((await rename('PAYMENTS')).status).toBe(200)
    expect(await named('payments')).toMatchObject({
      status: 409,
      error: { message: 'body.name: another team uses it' },
    })
    const other = await newTeam(world, tenant)
    const taken = await world.call(teams.update, {
      as: admin.as,
      params: { orgId, teamId: other.id },
      body: { name: 'payments' },
    })
    expect(taken.status).toBe(409)
    const remove = () => world.call(teams.delete, { as: admin.as, params: { orgId, teamId } })
    expect((await remove()).body).toEqual({ lost: [] })
    expect((await remove()).status).toBe(404)
    expect((await trail(teamId)).map(([action]) => action)).toEqual([
      'team.deleted',
      'team.renamed',
      'team.renamed',
      'team.created',
    ])
  })

  test('takes people and environments of its organization alone, and no branch', async () => {
    const [envId, person, team] = [await newPlace(), await newMember(world, tenant), await newTeam(world, tenant)]
    const stranger = await newPerson(world, 'stranger@example.com')
    const elsewhere = await signUp(world)
    const foreign = (await newEnv(world, elsewhere, (await newApp(world, elsewhere)).id)).id
    const fork = { slug: 'fork', wrappedDek: wrappedKey(), ttlSeconds: null }
    const branch = await world.call(branches.create, { as: admin.as, params: { orgId, envId }, body: fork })
    expect(await join(team.id, [person.id, stranger.id])).toMatchObject({
      status: 404,
      error: { message: 'body.userIds.1: no such member' },
    })
    const params = { orgId, teamId: team.id }
    for (const id of [foreign, branch.body.branch.id, newId('environment')])
      expect(
        await world.call(teams.addEnvironments, { as: admin.as, params, body: { environmentIds: [envId, id] } }),
      ).toMatchObject({ status: 404, error: { message: 'body.environmentIds.1: no such env, or a branch' } })
    expect(await show(team.id)).toMatchObject({ members: [], environments: [] })
    expect((await join(team.id, [person.id])).body.team).toMatchObject({ members: 1, environments: 0 })
    expect((await join(team.id, [person.id])).status).toBe(200)
    expect((await trail(team.id)).filter(([action]) => action === 'team.member_added')).toHaveLength(1)
  })

  test('of 500 people is the largest, and asks for all their keys in pages', async () => {
    const own = await openTenant()
    const { db } = own.world.server.context
    const org = own.tenant.orgId
    const envId = (await newEnv(own.world, own.tenant, (await newApp(own.world, own.tenant)).id)).id
    await db.rows(`insert into users (id, issuer, subject, email, created_at)
      select 'usr_' || lpad(n::text, 22, '0'), 'many', n, n || '@many.example', now() from generate_series(1, 501) n`)
    await db.rows(
      `insert into memberships (org_id, user_id, role, created_at)
       select $1, 'usr_' || lpad(n::text, 22, '0'), 'member', now() from generate_series(1, 501) n`,
      [org],
    )
    const ids = Array.from({ length: 501 }, (_, n) => `usr_${String(n + 1).padStart(22, '0')}`)
    const { id: teamId } = await newTeam(own.world, own.tenant, ids.slice(0, 500), [envId])
    const params = { orgId: org, teamId }
    const more = { as: own.tenant.admin.as, params, body: { userIds: ids.slice(500) } }
    expect(await own.world.call(teams.addMembers, more)).toMatchObject({ status: 409 })
    const seen: string[] = []
    let cursor: string | undefined
    do {
      const query = { limit: 150, ...(cursor === undefined ? {} : { cursor }) }
      const page = await own.world.call(grants.missing, { as: own.tenant.admin.as, params: { orgId: org }, query })
      seen.push(...page.body.missing.map(({ principalId }) => principalId))
      cursor = page.body.nextCursor ?? undefined
    } while (cursor)
    expect(seen).toEqual(ids.slice(0, 500))
    expect(limits.teamMembersMax).toBe(500)
  })
})

describe('an organization', () => {
  test('has a limit on its teams, and a team on its environments, and one too many changes nothing', async () => {
    const own = await openTenant()
    const { as } = own.tenant.admin
    const { orgId } = own.tenant
    const { db } = own.world.server.context
    const appId = (await newApp(own.world, own.tenant)).id
    const [first, last] = [
      await newEnv(own.world, own.tenant, appId, 'first'),
      await newEnv(own.world, own.tenant, appId, 'last'),
    ]
    const { id: teamId } = await newTeam(own.world, own.tenant, [], [first.id])
    await db.rows(
      `insert into environments (org_id, id, application_id, name, slug, created_at, updated_at)
       select $1, 'env_' || lpad(n::text, 22, '0'), $2, n, 'e' || n, now(), now() from generate_series(2, $3::int) n`,
      [orgId, appId, limits.teamEnvironmentsMax],
    )
    await db.rows(
      `insert into team_environments (org_id, team_id, environment_id, created_at)
       select $1, $2, 'env_' || lpad(n::text, 22, '0'), now() from generate_series(2, $3::int) n`,
      [orgId, teamId, limits.teamEnvironmentsMax],
    )
    const more = { as, params: { orgId, teamId }, body: { environmentIds: [last.id] } }
    expect(await own.world.call(teams.addEnvironments, more)).toMatchObject({ status: 409 })
    await db.rows(
      `insert into teams (org_id, id, name, created_at, updated_at)
       select $1, 'tea_' || lpad(n::text, 22, '0'), 'limit ' || n, now(), now() from generate_series(2, $2::int) n`,
      [orgId, limits.teamsMax],
    )
    const another = { as, params: { orgId }, body: { name: 'One more' } }
    expect(await own.world.call(teams.create, another)).toMatchObject({ status: 409 })
    const { body } = await own.world.call(teams.list, { as, params: { orgId } })
    expect(body.teams).toHaveLength(limits.teamsMax)
    expect(body.teams.find(({ id }) => id === teamId)?.environments).toBe(limits.teamEnvironmentsMax)
  })
})

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
