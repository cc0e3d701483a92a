import { limits } from '@skerry/contract/limits'
import type { teams } from '@skerry/contract/teams/endpoints'
import type { In, Out } from '../../http/route.ts'
import { fail } from '../../kernel/errors.ts'
import { lockEnvironments } from '../../model/environments/table.ts'
import { endTeamGrants } from '../../model/grants/write.ts'
import { lockOrg } from '../../model/organizations/table.ts'
import type { InTeam } from './scope.ts'
import { deleteTeamEnvironment, describeLost, insertTeamEnvironments, listUserIds } from './store.ts'
import { getTeam, lostIn } from './teams.ts'

export async function addEnvironments(
  input: In<typeof teams.addEnvironments, InTeam>,
): Out<typeof teams.addEnvironments> {
  const { db, org, team, body, now, audit } = input
  await lockOrg(db, org)
  await getTeam(db, org, team.id)
  const there = await lockEnvironments(db, org.id, body.environmentIds, now)
  const missing = body.environmentIds.findIndex((id) => there.get(id)?.parentEnvironmentId !== null)
  if (missing >= 0) throw fail('not_found', `body.environmentIds.${missing}: no such env, or a branch`)
  const added = await insertTeamEnvironments(db, { orgId: org.id, id: team.id }, body.environmentIds, now)
  const after = await getTeam(db, org, team.id)
  if (added.length > 0 && after.environments > limits.teamEnvironmentsMax)
    throw fail('conflict', `body.environmentIds: a team has at most ${limits.teamEnvironmentsMax} environments`)
  for (const environmentId of added) audit('team.environment_added', team.id, { environmentId })
  return { team: after }
}

export async function removeEnvironment(
  input: In<typeof teams.removeEnvironment, InTeam>,
): Out<typeof teams.removeEnvironment> {
  const { db, org, team, params, audit } = input
  await lockOrg(db, org)
  const of = { orgId: org.id, id: team.id }
  if (!(await deleteTeamEnvironment(db, of, params.envId))) throw fail('not_found', 'no such environment of the team')
  const lost = await endTeamGrants(db, org.id, await listUserIds(db, of), [params.envId])
  audit('team.environment_removed', team.id, { environmentId: params.envId, ...lostIn(lost) })
  return { lost: await describeLost(db, org, lost) }
}
