import { limits } from '@skerry/contract/limits'
import type { invites } from '@skerry/contract/members/endpoints'
import type { Tx } from '../../db/database.ts'
import type { In } from '../../http/route.ts'
import { fail } from '../../kernel/errors.ts'
import { lockEnvironments } from '../../model/environments/table.ts'
import { addPlan, addTeamMembers } from '../../model/teams/write.ts'
import type { InOrg, Org } from '../orgs/scope.ts'

// Teams and environments that an invited person gets with the acceptance: ids alone, no key.

/** Stores the teams and environments of a new invitation. Those of an invitation that it replaces are deleted. */
export async function putInviteGifts(
  { db, org, body, now }: In<typeof invites.create, InOrg>,
  inviteId: string,
): Promise<{ teamIds: string[]; environmentIds: string[] }> {
  const { teamIds = [], environmentIds = [] } = body
  const environments = await lockEnvironments(db, org.id, environmentIds, now)
  const gone = environmentIds.findIndex((id) => !environments.has(id))
  if (gone >= 0) throw fail('not_found', `body.environmentIds.${gone}: no such env`)
  const values = [org.id, inviteId]
  await db.rows('delete from invitation_teams where org_id = $1 and invitation_id = $2', values)
  await db.rows('delete from invitation_environments where org_id = $1 and invitation_id = $2', values)
  const teams = await db.rows<{ teamId: string }>(
    `insert into invitation_teams (org_id, invitation_id, team_id)
     select t.org_id, $2, t.id from teams t where t.org_id = $1 and t.id = any($3::text[]) order by t.id returning team_id`,
    [...values, teamIds],
  )
  const there = new Set(teams.map(({ teamId }) => teamId))
  const missing = teamIds.findIndex((id) => !there.has(id))
  if (missing >= 0) throw fail('not_found', `body.teamIds.${missing}: no such team`)
  await db.rows(
    `insert into invitation_environments (org_id, invitation_id, environment_id)
     select $1, $2, id from unnest($3::text[]) as given(id) order by id`,
    [...values, environmentIds],
  )
  return { teamIds: [...teamIds].sort(), environmentIds: [...environmentIds].sort() }
}

/**
 * Adds a person who has joined to the teams of the invitation, and plans the other keys. A team that is full meanwhile is
 * left out. The caller holds the lock on the organization. Returns the ids for the audit entry.
 */
export async function acceptGifts(
  db: Tx,
  org: Org,
  { inviteId, userId }: { inviteId: string; userId: string },
  now: string,
): Promise<{ teamIds?: string[]; environmentIds?: string[] }> {
  const teams = await db.rows<{ teamId: string }>(
    `select g.team_id from invitation_teams g
      where g.org_id = $1 and g.invitation_id = $2
        and (select count(*) from team_members m where m.org_id = g.org_id and m.team_id = g.team_id) < $3
      order by g.team_id`,
    [org.id, inviteId, limits.teamMembersMax],
  )
  const teamIds: string[] = []
  for (const { teamId } of teams)
    if ((await addTeamMembers(db, { orgId: org.id, id: teamId }, [userId], now)).length > 0) teamIds.push(teamId)
  const planned = await db.rows<{ environmentId: string }>(
    'select environment_id from invitation_environments where org_id = $1 and invitation_id = $2',
    [org.id, inviteId],
  )
  const ids = planned.map(({ environmentId }) => environmentId)
  const environmentIds = await addPlan(db, { orgId: org.id, userId }, ids, now)
  return {
    ...(teamIds.length > 0 ? { teamIds } : {}),
    ...(environmentIds.length > 0 ? { environmentIds: environmentIds.sort() } : {}),
  }
}
