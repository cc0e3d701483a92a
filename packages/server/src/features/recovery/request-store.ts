import type { RecoveryRequest as RequestRow } from '@skerry/contract/recovery/schemas'
import type { Static } from 'typebox'
import type { Sql, Tx } from '../../db/database.ts'
import type { KeysetCursor } from '../../http/page.ts'
import { tokenStands } from '../../model/tokens/table.ts'
import type { Org } from '../orgs/scope.ts'
import type { Status } from './lifecycle.ts'
import { type RecoveryRequest, requestColumns } from './scope.ts'

type InOrg = Pick<Org, 'id'>
type Row = Static<typeof RequestRow>

export type NewRequest = Omit<Row, 'status' | 'contributed'>

export async function insertRequest(db: Tx, org: InOrg, request: NewRequest): Promise<Row> {
  const row = await db.row<Row>(
    `insert into recovery_requests as r (org_id, id, status, drill, target_public_key_jwk, target_type, target_id, reason,
                                         threshold, requested_by_type, requested_by_id, created_at, expires_at)
     values ($1, $2, 'open', $3, $4, $5, $6, $7, $8, $9, $10, $11, $12)
     returning ${requestColumns('$11')}`,
    [
      org.id,
      request.id,
      request.drill,
      request.targetPublicKeyJwk,
      request.targetType,
      request.targetId,
      request.reason,
      request.threshold,
      request.requestedByType,
      request.requestedById,
      request.createdAt,
      request.expiresAt,
    ],
  )
  return row as Row
}

/** Lists the open requests of one requester for one target. */
export const listPending = (
  db: Tx,
  org: InOrg,
  requester: { type: string; id: string },
  target: { type: string; id: string },
  now: string,
) =>
  db.rows<Row>(
    `select ${requestColumns('$6')} from recovery_requests r
      where r.org_id = $1 and r.status = 'open' and r.expires_at > $6 and not r.drill
        and r.requested_by_type = $2 and r.requested_by_id = $3 and r.target_type = $4 and r.target_id = $5
      order by r.created_at, r.id`,
    [org.id, requester.type, requester.id, target.type, target.id, now],
  )

/** Lists all requests, or the open ones and those for one principal, as `seen` says. */
export const listRequests = (
  db: Sql,
  org: InOrg,
  seen: { all: boolean; open: boolean; type: string; id: string },
  now: string,
  cursor: KeysetCursor,
) =>
  db.rows<Row>(
    `select ${requestColumns('$2')} from recovery_requests r
      where r.org_id = $1
        and ($3 or ($4 and r.status = 'open' and r.expires_at > $2) or (r.target_type = $5 and r.target_id = $6))
        and ($7::timestamptz is null or (r.created_at, r.id) > ($7, $8))
      order by r.created_at, r.id limit $9`,
    [org.id, now, seen.all, seen.open, seen.type, seen.id, cursor.at, cursor.id, cursor.take],
  )

/**
 * Reads the current request and locks it until commit. Two contributions, or a contribution and a cancellation, wait
 * for each other here.
 */
export const lockRequest = async (db: Tx, org: InOrg, { id }: RecoveryRequest, now: string): Promise<Row> => {
  await db.row('select 1 from recovery_requests where org_id = $1 and id = $2 for update', [org.id, id])
  const row = await db.row<Row>(
    `select ${requestColumns('$3')} from recovery_requests r where r.org_id = $1 and r.id = $2`,
    [org.id, id, now],
  )
  if (!row) throw new Error('a request is never deleted')
  return row
}

export const listShares = (db: Sql, org: InOrg, { id }: RecoveryRequest) =>
  db.rows<{ shareIndex: number; userId: string; contributedShare: string | null; createdAt: string }>(
    `select share_index, user_id, contributed_share, created_at from recovery_contributions
      where org_id = $1 and request_id = $2 order by share_index`,
    [org.id, id],
  )

/** Returns false if that share was contributed before. */
export const insertShare = async (
  db: Tx,
  org: InOrg,
  { id }: Pick<Row, 'id'>,
  share: { shareIndex: number; userId: string; contributedShare: string; now: string },
): Promise<boolean> =>
  (await db.row(
    `insert into recovery_contributions (org_id, request_id, share_index, user_id, contributed_share, created_at)
     values ($1, $2, $3, $4, $5, $6) on conflict do nothing returning share_index`,
    [org.id, id, share.shareIndex, share.userId, share.contributedShare, share.now],
  )) !== undefined

/** Closes an open request. The contributors stay readable, and the shares are deleted. */
export async function closeRequest(db: Tx, org: InOrg, { id }: Pick<Row, 'id'>, status: Exclude<Status, 'open'>) {
  await db.rows('update recovery_requests set status = $3 where org_id = $1 and id = $2', [org.id, id, status])
  await forgetShares(db, [id])
}

export async function cancelOpen(db: Tx, org: InOrg): Promise<{ id: string }[]> {
  const rows = await db.rows<{ id: string }>(
    `update recovery_requests set status = 'cancelled' where org_id = $1 and status = 'open' returning id`,
    [org.id],
  )
  await forgetShares(
    db,
    rows.map(({ id }) => id),
  )
  return rows
}

export async function expireRequests(db: Tx, now: string) {
  const rows = await db.rows<{ orgId: string; id: string; contributed: number }>(
    `update recovery_requests r set status = 'expired' where status = 'open' and expires_at <= $1
     returning org_id, id, (select count(*) from recovery_contributions c
                             where c.org_id = r.org_id and c.request_id = r.id)::integer as contributed`,
    [now],
  )
  await forgetShares(
    db,
    rows.map(({ id }) => id),
  )
  return rows
}

const forgetShares = (db: Tx, requestIds: string[]) =>
  db.rows(
    `update recovery_contributions c set contributed_share = null
       from recovery_requests r
      where r.id = any($1::text[]) and c.org_id = r.org_id and c.request_id = r.id`,
    [requestIds],
  )

/** Finds the public key of a member with keys, or of a valid service token, and locks it until commit. */
export const findPublicKey = async (db: Sql, org: InOrg, type: string, id: string, now: string) =>
  (type === 'user'
    ? await db.row<{ publicKeyJwk: string }>(
        `select u.public_key_jwk from memberships m join users u on u.id = m.user_id
          where m.org_id = $1 and m.user_id = $2 and u.public_key_jwk is not null
            for key share of m for share of u`,
        [org.id, id],
      )
    : await db.row<{ publicKeyJwk: string }>(
        `select t.public_key_jwk from service_tokens t
          where t.org_id = $1 and t.id = $2 and ${tokenStands('$3')} for share of t`,
        [org.id, id, now],
      )
  )?.publicKeyJwk

/** Returns the environments that the recovery key covers. None of them loses its coverage before commit. */
export const lockCovered = async (db: Tx, org: InOrg, environmentIds: string[]): Promise<Set<string>> => {
  const rows = await db.rows<{ environmentId: string }>(
    `select environment_id from recovery_grants where org_id = $1 and environment_id = any($2::text[])
      order by environment_id for key share`,
    [org.id, environmentIds],
  )
  return new Set(rows.map(({ environmentId }) => environmentId))
}
