import { branches } from '@skerry/contract/branches/endpoints'
import { grants } from '@skerry/contract/grants/endpoints'
import { limits } from '@skerry/contract/limits'
import { teams } from '@skerry/contract/teams/endpoints'
import { describe, expect, test } from 'vitest'
import { wrappedKey } from '../../../test/blobs.ts'
import { openTenant } from '../../../test/scene.ts'
import { openTeams } from '../../../test/team-scene.ts'
import { newApp, newEnv, newMember, newPerson, newTeam, signUp } from '../../../test/tenant.ts'
import { newId } from '../../kernel/context.ts'

const { world, tenant, orgId, admin, newPlace, show, trail, join } = await openTeams()

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
