import { limits } from '@skerry/contract/limits'
import type { teams } from '@skerry/contract/teams/endpoints'
import type { In, Out } from '../../http/route.ts'
import { fail } from '../../kernel/errors.ts'
import { endTeamGrants } from '../../model/grants/write.ts'
import { lockOrg } from '../../model/organizations/table.ts'
import { lockMembers } from '../../model/people/memberships.ts'
import { addTeamMembers, deleteTeamMember } from '../../model/teams/write.ts'
import type { InTeam } from './scope.ts'
import { describeLost, listEnvironmentIds } from './store.ts'
import { getTeam, lostIn } from './teams.ts'

/** Adds people. A person who was locked out of an environment of the team stays locked out. */
export async function addMembers(input: In<typeof teams.addMembers, InTeam>): Out<typeof teams.addMembers> {
  const { db, org, team, body, now, audit } = input
  await lockOrg(db, org)
  await getTeam(db, org, team.id)
  const members = await lockMembers(db, org, body.userIds, 'key share')
  const stranger = body.userIds.findIndex((id) => !members.has(id))
  if (stranger >= 0) throw fail('not_found', `body.userIds.${stranger}: no such member`)
  const of = { orgId: org.id, id: team.id }
  const added = await addTeamMembers(db, of, body.userIds, now)
  const after = await getTeam(db, org, team.id)
  if (added.length > 0 && after.members > limits.teamMembersMax)
    throw fail('conflict', `body.userIds: a team has at most ${limits.teamMembersMax} people`)
  for (const userId of added) audit('team.member_added', team.id, { userId })
  return { team: after }
}

export async function removeMember(input: In<typeof teams.removeMember, InTeam>): Out<typeof teams.removeMember> {
  const { db, org, team, params, audit } = input
  await lockOrg(db, org)
  const of = { orgId: org.id, id: team.id }
  if (!(await deleteTeamMember(db, of, params.userId))) throw fail('not_found', 'no such member of the team')
  const lost = await endTeamGrants(db, org.id, [params.userId], await listEnvironmentIds(db, of))
  const { grants, environmentIds } = lostIn(lost)
  audit('team.member_removed', team.id, { userId: params.userId, grants, environmentIds })
  return { lost: await describeLost(db, org, lost) }
}
