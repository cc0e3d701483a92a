import type { LostKeys, TeamEnvironment, TeamMember } from '@skerry/contract/teams/schemas'
import type { Static } from 'typebox'
import type { Sql, Tx } from '../../db/database.ts'
import type { KeysetCursor } from '../../http/page.ts'
import type { Principal } from '../../kernel/principal.ts'
import { environmentLabel, labelJoins } from '../../model/environments/label.ts'
import { grantInForce } from '../../model/grants/table.ts'
import type { LostGrant } from '../../model/grants/write.ts'
import { isNotExcluded } from '../../model/teams/table.ts'
import type { OfTeam } from '../../model/teams/write.ts'
import type { Org } from '../orgs/scope.ts'
import { type Team, teamColumns } from './scope.ts'

export const listTeams = (db: Sql, org: Org, cursor: KeysetCursor) =>
  db.rows<Team>(
    `select ${teamColumns} from teams t
      where t.org_id = $1 and ($2::timestamptz is null or (t.created_at, t.id) > ($2, $3))
      order by t.created_at, t.id limit $4`,
    [org.id, cursor.at, cursor.id, cursor.take],
  )

export async function countTeams(db: Sql, org: Org): Promise<number> {
  const row = await db.row<{ count: number }>('select count(*) as count from teams where org_id = $1', [org.id])
  return row?.count ?? 0
}

/** Returns false if another team has the name. Upper and lower case make no difference. */
export const insertTeam = async (db: Tx, org: Org, team: { id: string; name: string; now: string }): Promise<boolean> =>
  (await db.row(
    `insert into teams (org_id, id, name, created_at, updated_at) values ($1, $2, $3, $4, $4)
     on conflict do nothing returning id`,
    [org.id, team.id, team.name, team.now],
  )) !== undefined

/** Must be called under the lock of the organization, so that no other team gets the name meanwhile. */
export const hasTeamNamed = async (db: Sql, org: Org, name: string, exceptId: string): Promise<boolean> =>
  (await db.row('select 1 from teams where org_id = $1 and lower(name) = lower($2) and id <> $3', [
    org.id,
    name,
    exceptId,
  ])) !== undefined

/** Returns false if the team was deleted meanwhile. */
export const renameTeam = async (db: Tx, team: OfTeam, name: string, now: string): Promise<boolean> =>
  (await db.row('update teams set name = $3, updated_at = $4 where org_id = $1 and id = $2 returning id', [
    team.orgId,
    team.id,
    name,
    now,
  ])) !== undefined

/** Returns false if the team was deleted meanwhile. */
export const deleteTeam = async (db: Tx, team: OfTeam): Promise<boolean> =>
  (await db.row('delete from teams where org_id = $1 and id = $2 returning id', [team.orgId, team.id])) !== undefined

export const listTeamMembers = (db: Sql, team: OfTeam) =>
  db.rows<Static<typeof TeamMember>>(
    `select u.id as user_id, u.email, u.name from team_members m join users u on u.id = m.user_id
      where m.org_id = $1 and m.team_id = $2 order by coalesce(u.name, u.email), u.id`,
    [team.orgId, team.id],
  )

/**
 * Lists the environments. Only an admin learns who is locked out, because the reason is a re-key or a revocation, and how many
 * keys are missing.
 */
export const listTeamEnvironments = (
  db: Sql,
  team: OfTeam,
  { principal, isAdmin, now }: { principal: Principal; isAdmin: boolean; now: string },
) =>
  db.rows<Static<typeof TeamEnvironment>>(
    `select te.environment_id, ${environmentLabel} as label,
            exists (select from key_grants k where k.org_id = te.org_id and k.environment_id = te.environment_id
                       and k.principal_type = $3 and k.principal_id = $4 and ${grantInForce('$6')}) as held,
            case when $5 then
              (select count(*) from team_members tm
                where tm.org_id = te.org_id and tm.team_id = te.team_id and ${isNotExcluded}
                  and not exists (select from key_grants k where k.org_id = te.org_id
                                     and k.environment_id = te.environment_id and k.principal_type = 'user'
                                     and k.principal_id = tm.user_id and ${grantInForce('$6')})) end as missing,
            (select coalesce(jsonb_agg(x.user_id order by x.user_id), '[]')
               from key_exclusions x
               join team_members m on m.org_id = x.org_id and m.user_id = x.user_id and m.team_id = te.team_id
              where $5 and x.org_id = te.org_id and x.environment_id = te.environment_id) as locked_out
       from team_environments te
       join environments e on e.org_id = te.org_id and e.id = te.environment_id
       ${labelJoins}
      where te.org_id = $1 and te.team_id = $2 order by label, te.environment_id`,
    [team.orgId, team.id, principal.type, principal.id, isAdmin, now],
  )

export const listUserIds = async (db: Sql, team: OfTeam): Promise<string[]> =>
  (
    await db.rows<{ userId: string }>(
      'select user_id from team_members where org_id = $1 and team_id = $2 order by user_id',
      [team.orgId, team.id],
    )
  ).map(({ userId }) => userId)

export const listEnvironmentIds = async (db: Sql, team: OfTeam): Promise<string[]> =>
  (
    await db.rows<{ environmentId: string }>(
      'select environment_id from team_environments where org_id = $1 and team_id = $2 order by environment_id',
      [team.orgId, team.id],
    )
  ).map(({ environmentId }) => environmentId)

/** Returns the environments that the team did not have. */
export const insertTeamEnvironments = async (db: Tx, team: OfTeam, ids: readonly string[], now: string) => {
  const rows = await db.rows<{ environmentId: string }>(
    `insert into team_environments (org_id, team_id, environment_id, created_at)
     select $1, $2, given.id, $4::timestamptz from unnest($3::text[]) as given(id) order by given.id
     on conflict do nothing returning environment_id`,
    [team.orgId, team.id, ids, now],
  )
  return rows.map(({ environmentId }) => environmentId)
}

/** Returns false if the team does not have the environment. */
export const deleteTeamEnvironment = async (db: Tx, team: OfTeam, environmentId: string): Promise<boolean> =>
  (await db.row(
    'delete from team_environments where org_id = $1 and team_id = $2 and environment_id = $3 returning environment_id',
    [team.orgId, team.id, environmentId],
  )) !== undefined

/** Groups lost grants by environment, with labels. */
export async function describeLost(db: Sql, org: Org, lost: readonly LostGrant[]): Promise<Static<typeof LostKeys>[]> {
  if (lost.length === 0) return []
  const users = new Map<string, string[]>()
  for (const { environmentId, userId } of lost) users.set(environmentId, [...(users.get(environmentId) ?? []), userId])
  const rows = await db.rows<{ environmentId: string; label: string }>(
    `select e.id as environment_id, ${environmentLabel} as label from environments e ${labelJoins}
      where e.org_id = $1 and e.id = any($2::text[]) order by label, e.id`,
    [org.id, [...users.keys()]],
  )
  return rows.map((row) => ({ ...row, userIds: (users.get(row.environmentId) ?? []).sort() }))
}
