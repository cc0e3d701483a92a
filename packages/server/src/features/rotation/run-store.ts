import type { Sql, Tx } from '../../db/database.ts'
import { type Rotation, rotationColumns } from './scope.ts'
import type { RotationId } from './store.ts'

/** A run counts as dead if it has not extended its claim for this long. */
export const claimSeconds = 15

/**
 * Gives a policy to one run. Returns undefined if another run has it, or if `onlyDue` is set and the policy is not due.
 * An embedded database has one server, so the claim of another process was left behind when that process died.
 */
export const claim = (
  db: Sql,
  { orgId, id }: RotationId,
  by: { claimedBy: string; process: string; now: string; until: string; onlyDue: boolean; alone: boolean },
) =>
  db.row<Rotation>(
    `update rotation_policies p set claimed_by = $3, claimed_until = $6
      where p.org_id = $1 and p.id = $2 and p.environment_id is not null
        and (p.claimed_until is null or p.claimed_until <= $5 or $8 and split_part(p.claimed_by, ' ', 1) <> $4)
        and (not $7 or p.status = 'active' and p.next_run_at <= $5)
     returning ${rotationColumns}`,
    [orgId, id, by.claimedBy, by.process, by.now, by.until, by.onlyDue, by.alone],
  )

/** Extends the claim of a run. Returns false if another run has taken over. */
export const extendClaim = async (db: Sql, { orgId, id }: RotationId, claimedBy: string, until: string) =>
  (await db.row(
    'update rotation_policies set claimed_until = $4 where org_id = $1 and id = $2 and claimed_by = $3 returning id',
    [orgId, id, claimedBy, until],
  )) !== undefined

export const releaseClaim = (db: Sql, { orgId, id }: RotationId, claimedBy: string) =>
  db.rows(
    `update rotation_policies set claimed_by = null, claimed_until = null
      where org_id = $1 and id = $2 and claimed_by = $3`,
    [orgId, id, claimedBy],
  )

export interface Pending {
  username: string
  ciphertext: string
}

export const findPending = (db: Sql, { orgId, id }: RotationId) =>
  db.row<Pending>('select username, ciphertext from rotation_pending where org_id = $1 and rotation_id = $2', [
    orgId,
    id,
  ])

/** Returns undefined if another run has the policy. */
export const insertPending = (db: Sql, { orgId, id }: RotationId, claimedBy: string, pending: Pending, now: string) =>
  db.row(
    `insert into rotation_pending (org_id, rotation_id, username, ciphertext, created_at)
     select org_id, id, $4, $5, $6::timestamptz from rotation_policies
      where org_id = $1 and id = $2 and claimed_by = $3 and environment_id is not null
     returning rotation_id`,
    [orgId, id, claimedBy, pending.username, pending.ciphertext, now],
  )

/** Deletes the row only if this run still has the policy. Otherwise the run that has it needs the row. */
export const deletePending = (db: Sql, { orgId, id }: RotationId, claimedBy: string) =>
  db.rows(
    `delete from rotation_pending where org_id = $1 and rotation_id = $2
        and exists (select from rotation_policies p where p.org_id = $1 and p.id = $2 and p.claimed_by = $3)`,
    [orgId, id, claimedBy],
  )

/** Reads the policy of this run and locks it until commit. Returns undefined if another run has it, or it is gone. */
export const lockClaim = (db: Tx, { orgId, id }: RotationId, claimedBy: string) =>
  db.row<Rotation>(
    `select ${rotationColumns} from rotation_policies p
      where p.org_id = $1 and p.id = $2 and p.claimed_by = $3 and p.environment_id is not null for update`,
    [orgId, id, claimedBy],
  )

export interface Ran {
  at: string
  nextRunAt: string
  version: number
}

export const recordSuccess = async (db: Tx, { orgId, id }: RotationId, ran: Ran): Promise<Rotation> =>
  (await db.row<Rotation>(
    `update rotation_policies p set last_run_at = $3, last_version = $4, last_error = null, failure_streak = 0,
            next_run_at = case when p.status = 'active' then $5::timestamptz end, claimed_by = null,
            claimed_until = null, updated_at = $3
      where p.org_id = $1 and p.id = $2
     returning ${rotationColumns}`,
    [orgId, id, ran.at, ran.version, ran.nextRunAt],
  )) as Rotation

/** Records a failed run and counts it. The next try is within the interval. */
export const recordFailure = (
  db: Tx,
  { orgId, id }: RotationId,
  claimedBy: string,
  failed: { at: string; nextRunAt: string; lastError: string },
) =>
  db.row<Rotation>(
    `update rotation_policies p set last_run_at = $4, last_error = $5, failure_streak = p.failure_streak + 1,
            next_run_at = case when p.status = 'active' then $6::timestamptz end, claimed_by = null,
            claimed_until = null, updated_at = $4
      where p.org_id = $1 and p.id = $2 and p.claimed_by = $3
     returning ${rotationColumns}`,
    [orgId, id, claimedBy, failed.at, failed.lastError, failed.nextRunAt],
  )
