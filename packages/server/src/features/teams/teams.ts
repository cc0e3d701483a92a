import { limits } from '@skerry/contract/limits'
import type { teams } from '@skerry/contract/teams/endpoints'
import type { Sql } from '../../db/database.ts'
import { byCreation, pageFrom, pageOf } from '../../http/page.ts'
import type { In, Out } from '../../http/route.ts'
import { fail } from '../../kernel/errors.ts'
import { endTeamGrants, type LostGrant } from '../../model/grants/write.ts'
import { lockOrg } from '../../model/organizations/table.ts'
import { type InOrg, isAdmin, type Org } from '../orgs/scope.ts'
import { findTeam, type InTeam, type Team } from './scope.ts'
import {
  countTeams,
  deleteTeam,
  describeLost,
  hasTeamNamed,
  insertTeam,
  listEnvironmentIds,
  listTeamEnvironments,
  listTeamMembers,
  listTeams,
  listUserIds,
  renameTeam,
} from './store.ts'

export async function list({ db, org, query }: In<typeof teams.list, InOrg>): Out<typeof teams.list> {
  const cursor = pageFrom(query, 'team')
  const page = pageOf(await listTeams(db, org, cursor), cursor, byCreation)
  return { teams: page.rows, nextCursor: page.nextCursor }
}

export async function create({
  db,
  org,
  body,
  now,
  newId,
  audit,
}: In<typeof teams.create, InOrg>): Out<typeof teams.create> {
  await lockOrg(db, org)
  if ((await countTeams(db, org)) >= limits.teamsMax)
    throw fail('conflict', `this organization has ${limits.teamsMax} teams: delete one first`)
  const id = newId('team')
  if (!(await insertTeam(db, org, { id, name: body.name, now }))) throw nameInUse()
  audit('team.created', id, { name: body.name })
  return { team: await getTeam(db, org, id) }
}

const nameInUse = () => fail('conflict', 'body.name: another team uses it')

/** Returns the team, or refuses if it was deleted meanwhile. */
export async function getTeam(db: Sql, org: Org, id: string): Promise<Team> {
  const team = await findTeam(db, org, id)
  if (!team) throw fail('not_found', 'no such team')
  return team
}

export async function get({
  db,
  org,
  role,
  principal,
  team,
  now,
}: In<typeof teams.get, InTeam>): Out<typeof teams.get> {
  const of = { orgId: org.id, id: team.id }
  const environments = await listTeamEnvironments(db, of, { principal, isAdmin: isAdmin({ role }), now })
  return {
    team,
    members: await listTeamMembers(db, of),
    environments,
  }
}

export async function update({
  db,
  org,
  team,
  body,
  now,
  audit,
}: In<typeof teams.update, InTeam>): Out<typeof teams.update> {
  await lockOrg(db, org)
  if (await hasTeamNamed(db, org, body.name, team.id)) throw nameInUse()
  const before = await getTeam(db, org, team.id)
  if (before.name === body.name) return { team: before }
  await renameTeam(db, { orgId: org.id, id: team.id }, body.name, now)
  audit('team.renamed', team.id, { name: body.name, from: before.name })
  return { team: await getTeam(db, org, team.id) }
}

/** Deletes the team. The people may have kept the keys that they lose, so the audit log names both. */
export async function remove({ db, org, team, audit }: In<typeof teams.delete, InTeam>): Out<typeof teams.delete> {
  await lockOrg(db, org)
  const of = { orgId: org.id, id: team.id }
  const [userIds, environmentIds] = [await listUserIds(db, of), await listEnvironmentIds(db, of)]
  if (!(await deleteTeam(db, of))) throw fail('not_found', 'no such team')
  const lost = await endTeamGrants(db, org.id, userIds, environmentIds)
  audit('team.deleted', team.id, { name: team.name, ...lostIn(lost) })
  return { lost: await describeLost(db, org, lost) }
}

/** The metadata of an audit entry: the people who lost keys, and the environments. */
export const lostIn = (lost: readonly LostGrant[]) => ({
  grants: lost.length,
  userIds: [...new Set(lost.map(({ userId }) => userId))].sort(),
  environmentIds: [...new Set(lost.map(({ environmentId }) => environmentId))].sort(),
})
