import type { Sql, Tx } from '../../db/database.ts'
import type { KeysetCursor } from '../../http/page.ts'
import type { Org } from '../orgs/scope.ts'
import type { Status } from './lifecycle.ts'
import { type Rotation, rotationColumns } from './scope.ts'

/** Lists all policies, or those of one environment if its id is given. */
export const listRotations = (db: Sql, org: Org, environmentId: string | null, { at, id, take }: KeysetCursor) =>
  db.rows<Rotation>(
    `select ${rotationColumns} from rotation_policies p
      where p.org_id = $1 and p.environment_id is not null and ($2::text is null or p.environment_id = $2)
        and ($3::timestamptz is null or (p.created_at, p.id) > ($3, $4))
      order by p.created_at, p.id limit $5`,
    [org.id, environmentId, at, id, take],
  )

export const listGranted = async (db: Sql, org: Org, environmentId: string | null): Promise<string[]> => {
  const rows = await db.rows<{ environmentId: string }>(
    `select environment_id from key_grants
      where org_id = $1 and principal_type = 'rotator' and ($2::text is null or environment_id = $2)
      order by created_at, id`,
    [org.id, environmentId],
  )
  return rows.map((row) => row.environmentId)
}

export const findRotationOf = (db: Sql, org: Org, environmentId: string, secretName: string) =>
  db.row<Rotation>(
    `select ${rotationColumns} from rotation_policies p
      where p.org_id = $1 and p.environment_id = $2 and p.secret_name = $3`,
    [org.id, environmentId, secretName],
  )

/** Finds another policy of the environment that writes this secret, as its value or as the name of its account. */
export const writerOf = (db: Sql, org: Org, environmentId: string, name: string, exceptName: string) =>
  db.row<{ secretName: string }>(
    `select secret_name from rotation_policies
      where org_id = $1 and environment_id = $2 and secret_name <> $4
        and (secret_name = $3 or config ->> 'usernameSecret' = $3)`,
    [org.id, environmentId, name, exceptName],
  )

export interface NewRotation {
  id: string
  environmentId: string
  secretName: string
  kind: string
  config: object
  intervalSeconds: number
  targetId: string | null
  status: Status
  nextRunAt: string
  now: string
}

/** A new configuration of the same secret replaces the existing policy, which starts over. */
export const putRotation = async (db: Tx, org: Org, one: NewRotation): Promise<Rotation> =>
  (await db.row<Rotation>(
    `insert into rotation_policies as p (org_id, id, environment_id, secret_name, kind, config, interval_seconds,
                                         target_id, status, next_run_at, created_at, updated_at)
     values ($1, $2, $3, $4, $5, $6, $7, $8, $11, $9, $10, $10)
     on conflict (org_id, environment_id, secret_name) do update
       set kind = excluded.kind, config = excluded.config, interval_seconds = excluded.interval_seconds,
           target_id = excluded.target_id, status = excluded.status, next_run_at = excluded.next_run_at, last_version = null,
           last_error = null, failure_streak = 0, updated_at = excluded.updated_at
     returning ${rotationColumns}`,
    [
      org.id,
      one.id,
      one.environmentId,
      one.secretName,
      one.kind,
      JSON.stringify(one.config),
      one.intervalSeconds,
      one.targetId,
      one.nextRunAt,
      one.now,
      one.status,
    ],
  )) as Rotation

export interface Changed {
  config: object
  intervalSeconds: number
  status: Status
  nextRunAt: string | null
  clears: boolean
  now: string
}

/** Returns undefined if the policy was deleted. */
export const updateRotation = (db: Tx, { orgId, id }: RotationId, change: Changed) =>
  db.row<Rotation>(
    `update rotation_policies p set config = $3, interval_seconds = $4, status = $5, next_run_at = $6,
            failure_streak = case when $7 then 0 else p.failure_streak end,
            last_error = case when $7 then null else p.last_error end, updated_at = $8
      where p.org_id = $1 and p.id = $2 and p.environment_id is not null
     returning ${rotationColumns}`,
    [
      orgId,
      id,
      JSON.stringify(change.config),
      change.intervalSeconds,
      change.status,
      change.nextRunAt,
      change.clears,
      change.now,
    ],
  )

export type RotationId = Pick<Rotation, 'orgId' | 'id'>

export const lockRotation = (db: Tx, { orgId, id }: RotationId) =>
  db.row<Rotation & { claimedUntil: string | null }>(
    `select ${rotationColumns}, p.claimed_until from rotation_policies p
      where p.org_id = $1 and p.id = $2 and p.environment_id is not null for update`,
    [orgId, id],
  )

export const deleteRotation = (db: Tx, { orgId, id }: RotationId) =>
  db.rows('delete from rotation_policies where org_id = $1 and id = $2', [orgId, id])

export const countRotations = async (db: Tx, orgId: string, environmentId: string): Promise<number> =>
  (
    await db.row<{ count: number }>(
      'select count(*)::int as count from rotation_policies where org_id = $1 and environment_id = $2',
      [orgId, environmentId],
    )
  )?.count ?? 0

/** Lists active policies that are due and that no run has claimed. */
export const listDue = (db: Sql, now: string) =>
  db.rows<{ orgId: string; rotationId: string }>(
    `select org_id, id as rotation_id from rotation_policies
      where status = 'active' and next_run_at <= $1 and environment_id is not null
        and (claimed_until is null or claimed_until <= $1)
      order by next_run_at limit 1000`,
    [now],
  )

/** Removes the rotation policies whose environment is gone. */
export const deleteOrphans = (db: Sql, orgId: string | null) =>
  db.rows<{ orgId: string; id: string; secretName: string; kind: string }>(
    `delete from rotation_policies where environment_id is null and ($1::text is null or org_id = $1)
     returning org_id, id, secret_name, kind`,
    [orgId],
  )
