import type { Tx } from '../../db/database.ts'
import type { OfEnvironment } from '../environments/table.ts'
import { grantInForce } from '../grants/table.ts'

// All statements that change `team_members`, `key_exclusions` and `planned_grants`. The audit entry of the caller's change
// names the people and the environments.

export interface OfTeam {
  orgId: string
  id: string
}

/**
 * Adds people to a team. Returns those who were not in it. People who were locked out of an environment stay so. The
 * caller holds the lock on the organization and has checked that they are members.
 */
export async function addTeamMembers(db: Tx, team: OfTeam, userIds: readonly string[], now: string): Promise<string[]> {
  const added = await db.rows<{ userId: string }>(
    `insert into team_members (org_id, team_id, user_id, created_at)
     select $1, $2, given.id, $4::timestamptz from unnest($3::text[]) as given(id) order by given.id
     on conflict do nothing returning user_id`,
    [team.orgId, team.id, userIds, now],
  )
  return added.map(({ userId }) => userId)
}

/** Returns false if the person is not in the team. */
export const deleteTeamMember = async (db: Tx, team: OfTeam, userId: string): Promise<boolean> =>
  (await db.row('delete from team_members where org_id = $1 and team_id = $2 and user_id = $3 returning user_id', [
    team.orgId,
    team.id,
    userId,
  ])) !== undefined

/** Replaces the plan of a person. Keys that the person holds need no plan. Returns whether the plan changed. */
export async function replacePlan(
  db: Tx,
  person: { orgId: string; userId: string },
  environmentIds: readonly string[],
  now: string,
): Promise<boolean> {
  const values = [person.orgId, person.userId, environmentIds]
  const ended = await db.rows(
    `delete from planned_grants where org_id = $1 and user_id = $2 and environment_id <> all($3::text[])
     returning environment_id`,
    values,
  )
  return (await addPlan(db, person, environmentIds, now)).length + ended.length > 0
}

/** Returns the environments that were not planned before. */
export async function addPlan(
  db: Tx,
  { orgId, userId }: { orgId: string; userId: string },
  environmentIds: readonly string[],
  now: string,
): Promise<string[]> {
  const added = await db.rows<{ environmentId: string }>(
    `insert into planned_grants (org_id, environment_id, user_id, created_at)
     select m.org_id, e.id, m.user_id, $4::timestamptz
       from memberships m
       join environments e on e.org_id = m.org_id and e.id = any($3::text[])
      where m.org_id = $1 and m.user_id = $2
        and not exists (select from key_grants k
                         where k.org_id = m.org_id and k.environment_id = e.id
                           and k.principal_type = 'user' and k.principal_id = m.user_id and ${grantInForce('$4')})
      order by e.id
     on conflict do nothing returning environment_id`,
    [orgId, userId, environmentIds, now],
  )
  return added.map(({ environmentId }) => environmentId)
}

/**
 * Ends plans that are fulfilled, and exclusions of people who got the key anyway. A temporary key ends no exclusion:
 * otherwise a team would ask for the key again after it.
 */
export async function settleGranted(
  db: Tx,
  orgId: string,
  granted: readonly { environmentId: string; principalId: string; endsAt: string | null }[],
): Promise<void> {
  const values = [
    orgId,
    granted.map(({ environmentId }) => environmentId),
    granted.map(({ principalId }) => principalId),
  ]
  await db.rows(
    `delete from planned_grants t using unnest($2::text[], $3::text[]) as given(environment_id, user_id)
      where t.org_id = $1 and t.environment_id = given.environment_id and t.user_id = given.user_id`,
    values,
  )
  await db.rows(
    `delete from key_exclusions t using unnest($2::text[], $3::text[], $4::boolean[]) as given(environment_id, user_id, stays)
      where t.org_id = $1 and t.environment_id = given.environment_id and t.user_id = given.user_id and given.stays`,
    [...values, granted.map(({ endsAt }) => endsAt === null)],
  )
}

/**
 * Records that these people shall not get the key of the environment again until somebody grants it to them: their plans
 * end, and no team asks for it, also one that they join later. The caller holds a lock that keeps new grants out.
 */
export async function lockOut(db: Tx, env: OfEnvironment, userIds: readonly string[]): Promise<void> {
  if (userIds.length === 0) return
  const values = [env.orgId, env.id, userIds]
  await db.rows(
    'delete from planned_grants where org_id = $1 and environment_id = $2 and user_id = any($3::text[])',
    values,
  )
  await db.rows(
    `insert into key_exclusions (org_id, environment_id, user_id)
     select m.org_id, $2, m.user_id from memberships m
      where m.org_id = $1 and m.user_id = any($3::text[]) order by m.user_id for key share of m
     on conflict do nothing`,
    values,
  )
}
