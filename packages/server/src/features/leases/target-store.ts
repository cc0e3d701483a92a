import type { Sql, Tx } from '../../db/database.ts'
import type { KeysetCursor } from '../../http/page.ts'
import type { Org } from '../orgs/scope.ts'
import { live } from './ledger-store.ts'
import { type TargetStatus, targetLifecycle } from './lifecycle.ts'
import { type LeaseTarget, targetColumns } from './scope.ts'

export const listTargets = (db: Sql, org: Org, { at, id, take }: KeysetCursor) =>
  db.rows<LeaseTarget>(
    `select ${targetColumns} from lease_targets t
      where t.org_id = $1 and ($2::timestamptz is null or (t.created_at, t.id) > ($2, $3))
      order by t.created_at, t.id limit $4`,
    [org.id, at, id, take],
  )

export interface NewTarget {
  id: string
  name: string
  provider: string
  config: object
  wrappedAdminSecret: string
  status: Exclude<TargetStatus, 'failing' | 'paused'>
  server: string | null
  notes: string[]
  now: string
}

/** Returns undefined if another target has the name. */
export const insertTarget = (db: Tx, org: Org, one: NewTarget) =>
  db.row<LeaseTarget>(
    `insert into lease_targets as t (org_id, id, name, provider, config, wrapped_admin_secret, status, server, notes,
                                     created_at, updated_at)
     values ($1, $2, $3, $4, $5, $6, $10, $7, $8, $9, $9)
     on conflict (org_id, name) do nothing
     returning ${targetColumns}`,
    [
      org.id,
      one.id,
      one.name,
      one.provider,
      JSON.stringify(one.config),
      one.wrappedAdminSecret,
      one.server,
      JSON.stringify(one.notes),
      one.now,
      one.status,
    ],
  )

/** A null status keeps the last check's result. Returns undefined if the target is gone or the name is in use. */
export const updateTarget = (
  db: Tx,
  { orgId, id }: LeaseTarget,
  change: Omit<NewTarget, 'id' | 'provider' | 'config' | 'status'> & { status: TargetStatus | null },
) =>
  db.row<LeaseTarget>(
    `update lease_targets t set name = $3, wrapped_admin_secret = $4, status = coalesce($8, t.status), server = $5,
            last_error = case when $8::text is null then t.last_error end,
            notes = $6, updated_at = $7
      where t.org_id = $1 and t.id = $2
        and not exists (select from lease_targets o where o.org_id = $1 and o.name = $3 and o.id <> $2)
     returning ${targetColumns}`,
    [
      orgId,
      id,
      change.name,
      change.wrappedAdminSecret,
      change.server,
      JSON.stringify(change.notes),
      change.now,
      change.status,
    ],
  )

/** Stores the result of the last attempt to reach the target. */
export const recordReach = (
  db: Sql,
  { orgId, id, status }: LeaseTarget,
  reach: { lastError: string | null; server?: string; notes?: string[]; now: string },
) =>
  db.row<LeaseTarget>(
    `update lease_targets t
        set status = case when t.status = 'paused' and $7 = 'failing' then 'paused' else $7 end, last_error = $3,
            server = coalesce($4, t.server), notes = coalesce($5::jsonb, t.notes), updated_at = $6
      where t.org_id = $1 and t.id = $2
     returning ${targetColumns}`,
    [
      orgId,
      id,
      reach.lastError,
      reach.server ?? null,
      reach.notes ? JSON.stringify(reach.notes) : null,
      reach.now,
      targetLifecycle.next(status, reach.lastError === null ? 'reach' : 'miss'),
    ],
  )

/** Returns undefined if the target is deleted. */
export const addChildFailure = (db: Tx, { orgId, id }: TargetId) =>
  db.row<Pick<LeaseTarget, 'name' | 'status' | 'childFailures'>>(
    `update lease_targets set child_failures = child_failures + 1 where org_id = $1 and id = $2
     returning name, status, child_failures`,
    [orgId, id],
  )

export const clearChildFailures = (db: Sql, { orgId, id }: TargetId) =>
  db.rows('update lease_targets set child_failures = 0 where org_id = $1 and id = $2 and child_failures > 0', [
    orgId,
    id,
  ])

export const pauseTarget = (db: Tx, { orgId, id }: TargetId, { reason, now }: { reason: string; now: string }) =>
  db.rows(
    `update lease_targets set status = 'paused', last_error = $3, updated_at = $4 where org_id = $1 and id = $2`,
    [orgId, id, reason, now],
  )

type TargetId = Pick<LeaseTarget, 'orgId' | 'id'>

/** Locks a target against new leases and rotation policies until commit. False if it is deleted. */
export const lockForDeletion = async (db: Tx, { orgId, id }: LeaseTarget): Promise<boolean> =>
  (await db.row('select 1 from lease_targets where org_id = $1 and id = $2 for update', [orgId, id])) !== undefined

export interface TargetPolicy {
  secretName: string
  /** `app/env`; null if the environment is being deleted. */
  environment: string | null
}

/** The rotation policies that sign in to a target. */
export const listPoliciesOn = (db: Tx, { orgId, id }: LeaseTarget) =>
  db.rows<TargetPolicy>(
    `select p.secret_name, coalesce(a.slug, g.slug) || '/' || e.slug as environment
       from rotation_policies p
       left join environments e on e.org_id = p.org_id and e.id = p.environment_id
       left join applications a on a.org_id = e.org_id and a.id = e.application_id
       left join groups g on g.org_id = e.org_id and g.id = e.group_id
      where p.org_id = $1 and p.target_id = $2
      order by p.created_at, p.id`,
    [orgId, id],
  )

export const countLive = async (db: Sql, { orgId, id }: LeaseTarget): Promise<number> =>
  (
    await db.row<{ live: number }>(
      `select count(*)::int as live from leases
        where org_id = $1 and target_id = $2 and status ${live}`,
      [orgId, id],
    )
  )?.live ?? 0

/** Closes the live leases of a target that is removed by force. Nobody checks their accounts from now on. */
export const forgetLive = (db: Tx, { orgId, id }: LeaseTarget, now: string) =>
  db.rows(
    `update leases set status = 'revoked', revoked_at = coalesce(revoked_at, $3), next_try_at = null,
            last_error = 'the target was removed by force: the account may still be there'
      where org_id = $1 and target_id = $2 and status ${live}`,
    [orgId, id, now],
  )

export const deleteTarget = (db: Tx, { orgId, id }: LeaseTarget) =>
  db.rows('delete from lease_targets where org_id = $1 and id = $2', [orgId, id])
