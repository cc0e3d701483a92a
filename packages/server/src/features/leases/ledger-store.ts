import type { Sql, Tx } from '../../db/database.ts'
import type { KeysetCursor } from '../../http/page.ts'
import { actingFor } from '../../model/people/made.ts'
import type { Org } from '../orgs/scope.ts'
import { leaseLifecycle, type Status, type Trigger } from './lifecycle.ts'
import { type Lease, leaseColumns } from './scope.ts'

/** Writes states into the SQL text, not a parameter, so that the partial indexes on live leases are used. */
const among = (states: readonly Status[]): string => `in (${states.map((state) => `'${state}'`).join(', ')})`

/** The states in which a lease may have an account on its target. */
export const live = among(leaseLifecycle.before('abandon', 'revoked'))

/** Providers whose account name the client chooses. The text equals the index condition, so the index is used. */
const hasAccountName = "provider in ('postgres', 'mysql', 'redis')"

export interface LeaseFilter {
  requestedById: string | null
  /** Only leases that may have an account on their target. */
  isLive: boolean
}

export const listLeases = (db: Sql, org: Org, { requestedById, isLive }: LeaseFilter, { at, id, take }: KeysetCursor) =>
  db.rows<Lease>(
    `select ${leaseColumns} from leases l
      where l.org_id = $1 and ($2::timestamptz is null or (l.created_at, l.id) < ($2, $3))
        and ($5::text is null or l.requested_by_id = $5)
        ${isLive ? `and l.status ${live}` : ''}
      order by l.created_at desc, l.id desc limit $4`,
    [org.id, at, id, take, requestedById],
  )

export interface NewLease {
  id: string
  targetId: string
  provider: string
  resourceRef: string | null
  verifierDigest: string | null
  requestedBy: { type: string; id: string }
  ttlSeconds: number
  createdAt: string
  expiresAt: string
}

/**
 * Locks the target against deletion until commit. Returns undefined if the target is deleted, or if another live lease
 * has the name of the account.
 */
export const insertLease = (db: Tx, org: Org, one: NewLease) =>
  db.row<Lease>(
    `with target as (select id from lease_targets where org_id = $1 and id = $3 for key share)
     insert into leases as l (org_id, id, target_id, provider, status, resource_ref, verifier_digest, requested_by_type,
                              requested_by_id, ttl_seconds, created_at, expires_at)
     select $1, $2, target.id, $4, 'pending', $5, $6, $7, $8, $9::integer, $10::timestamptz, $11::timestamptz from target
     on conflict (org_id, target_id, resource_ref) where ${hasAccountName} and status ${live} do nothing
     returning ${leaseColumns}`,
    [
      org.id,
      one.id,
      one.targetId,
      one.provider,
      one.resourceRef,
      one.verifierDigest,
      one.requestedBy.type,
      one.requestedBy.id,
      one.ttlSeconds,
      one.createdAt,
      one.expiresAt,
    ],
  )

/** The live lease that has an account name on a target. */
export const findLeaseNamed = (db: Sql, org: Pick<Org, 'id'>, targetId: string, name: string) =>
  db.row<Pick<Lease, 'id' | 'status'>>(
    `select id, status from leases
      where org_id = $1 and target_id = $2 and resource_ref = $3 and ${hasAccountName} and status ${live}`,
    [org.id, targetId, name],
  )

interface Moved {
  resourceRef?: string | null
  lastError?: string | null
}

/** Returns undefined if the trigger does not lead from the lease's current state to `to`. */
export const moveLease = (db: Sql, { orgId, id }: LeaseId, trigger: Trigger, to: Status, more: Moved = {}) =>
  db.row<Lease>(
    `update leases l set status = $3, resource_ref = coalesce($4, l.resource_ref), last_error = coalesce($5, l.last_error),
            next_try_at = null
      where l.org_id = $1 and l.id = $2 and l.status = any($6::text[])
     returning ${leaseColumns}`,
    [orgId, id, to, more.resourceRef ?? null, more.lastError ?? null, leaseLifecycle.before(trigger, to)],
  )

export type LeaseId = Pick<Lease, 'orgId' | 'id'>

/**
 * Starts the removal of the account, which is retried until the account is gone. Before `absentFrom` the account may
 * still appear, so a try that does not find it counts only from then on. Returns undefined as `moveLease` does.
 */
export const beginEnd = (
  db: Sql,
  { orgId, id }: LeaseId,
  end: { as: EndsAs; now: string; absentFrom?: string; revokedById?: string; lastError?: string },
) =>
  db.row<Ending>(
    `update leases l set status = 'revoking', ends_as = $3, ending_since = $8, next_try_at = $4, tries = 0,
            revoked_at = case when $3 = 'revoked' then $4::timestamptz end, revoked_by_id = $5,
            last_error = coalesce($6, l.last_error)
      where l.org_id = $1 and l.id = $2 and l.status = any($7::text[])
     returning ${endingColumns}`,
    [
      orgId,
      id,
      end.as,
      end.now,
      end.revokedById ?? null,
      end.lastError ?? null,
      leaseLifecycle.before('end', 'revoking'),
      end.absentFrom ?? end.now,
    ],
  )

/** Postpones the instant from which a missing account of a `revoking` lease counts as removed. */
export const delayEnd = (db: Sql, { orgId, id }: LeaseId, absentFrom: string) =>
  db.rows(
    `update leases set ending_since = greatest(ending_since, $3)
      where org_id = $1 and id = $2 and status = 'revoking'`,
    [orgId, id, absentFrom],
  )

export type EndsAs = 'expired' | 'revoked' | 'failed'
/** `endingSince` is in the future while the account may still appear, because a statement is on its way. */
export type Ending = Lease & { endsAs: EndsAs; endingSince: string; tries: number }
const endingColumns = `${leaseColumns}, l.ends_as, l.ending_since, l.tries`

/** Finds a lease whose account is being removed. */
export const findEnding = (db: Sql, { orgId, id }: LeaseId) =>
  db.row<Ending>(`select ${endingColumns} from leases l where l.org_id = $1 and l.id = $2 and l.status = 'revoking'`, [
    orgId,
    id,
  ])

/** How long a mint may take. A mint that is not finished by then counts as cut off. */
const mintSeconds = 90
/** MySQL needs longer: a lock may last as long as a backup, and MySQL cannot limit every kind of wait. */
const mysqlMintSeconds = 900
/** The last statement waits no longer than this on a target that ends waiting statements. */
const statementSeconds = 30

/** Returns the instant after which the account of an unanswered mint can no longer appear. */
export function absentFrom({ provider, createdAt }: Lease, now: string): string {
  const seconds = provider === 'mysql' ? mysqlMintSeconds : mintSeconds
  const ends = [Date.parse(createdAt) + seconds * 1000, Date.parse(now) + statementSeconds * 1000]
  return new Date(Math.max(...ends)).toISOString()
}

const expiring = among(leaseLifecycle.before('expire', 'revoking'))
const neverMade = among(leaseLifecycle.before('cut_off', 'failed'))
const halfMade = among(leaseLifecycle.before('cut_off', 'revoking'))

/**
 * Marks the leases of a target that must end now as `revoking` and returns up to 100 of them: expired leases,
 * interrupted mints, and leases whose removal is due again. A mint that never reached the target becomes `failed`.
 */
export async function takeDue(db: Tx, orgId: string, targetId: string, now: string): Promise<Ending[]> {
  await db.rows(
    `with never as (
       update leases set status = 'failed', last_error = 'the target was not reached in time'
        where org_id = $1 and target_id = $2 and status ${neverMade}
          and created_at < $3::timestamptz - make_interval(secs => $4)
       returning org_id, id)
     delete from provisioner_jobs j using never n where j.org_id = n.org_id and j.lease_id = n.id`,
    [orgId, targetId, now, mintSeconds],
  )
  await db.rows(
    `update leases set status = 'revoking', ends_as = case when status ${expiring} then 'expired' else 'failed' end,
            ending_since = case when status ${expiring} then $3::timestamptz
              else greatest($3, created_at + make_interval(secs => case provider when 'mysql' then $5 else $4 end)) end,
            next_try_at = $3, tries = 0
      where org_id = $1 and target_id = $2
        and (status ${expiring} and expires_at <= $3
             or status ${halfMade} and created_at < $3::timestamptz - make_interval(secs => $4))`,
    [orgId, targetId, now, mintSeconds, mysqlMintSeconds],
  )
  return db.rows<Ending>(
    `select ${endingColumns} from leases l
      where l.org_id = $1 and l.target_id = $2 and l.status = 'revoking' and l.next_try_at <= $3
      order by l.next_try_at limit 100`,
    [orgId, targetId, now],
  )
}

/** Lists the targets with leases that must end now. */
export const listDueTargets = (db: Sql, now: string) =>
  db.rows<{ orgId: string; targetId: string }>(
    `select distinct org_id, target_id from leases
      where target_id is not null
        and (status ${expiring} and expires_at <= $1 or status = 'revoking' and next_try_at <= $1
             or (status ${neverMade} or status ${halfMade})
                and created_at < $1::timestamptz - make_interval(secs => $2))`,
    [now, mintSeconds],
  )

/** Counts a try after which the account may still exist, and schedules the next try. */
export const scheduleTry = (db: Sql, { orgId, id }: LeaseId, nextTryAt: string, lastError: string | null) =>
  db.row<Lease>(
    `update leases l set tries = tries + 1, next_try_at = $3, last_error = coalesce($4, l.last_error)
      where l.org_id = $1 and l.id = $2 and l.status = 'revoking'
     returning ${leaseColumns}`,
    [orgId, id, nextTryAt, lastError],
  )

export const lockLease = (db: Tx, { orgId, id }: LeaseId) =>
  db.row<Lease>(`select ${leaseColumns} from leases l where l.org_id = $1 and l.id = $2 for update`, [orgId, id])

/** Lists the live leases that a person requested, also with a credential that the person made. */
export const findLeasesRequestedBy = (db: Sql, org: Pick<Org, 'id'>, userId: string) =>
  db.rows<Lease>(
    `select ${leaseColumns} from leases l
      where l.org_id = $1 and l.status ${live} and l.status <> 'revoking'
        and (l.requested_by_type, l.requested_by_id) in (${actingFor('$1', '$2')})
      order by l.id`,
    [org.id, userId],
  )
