import type { Sql, Tx } from '../../../db/database.ts'
import type { Place } from '../connections/scope.ts'
import type { Provider } from '../executor/catalog.ts'
import { type Purpose, type Session, sessionColumns } from './scope.ts'

interface NewSession {
  id: string
  purpose: Purpose
  userRef: string
  provider: Provider | null
  connectionId: string | null
  allowAccountChange: boolean
  returnUrl: string | null
  tokenHash: string
  expiresAt: string
  now: string
}

export const insertSession = (db: Tx, { orgId, id: projectId }: Place, one: NewSession) =>
  db.rows(
    `insert into vault_sessions (org_id, id, project_id, purpose, user_ref, provider, connection_id, return_url, status,
                                 token_hash, created_at, expires_at, allow_account_change)
     values ($1, $2, $3, $4, $5, $6, $7, $8, 'pending', $9, $10, $11, $12)`,
    [
      orgId,
      one.id,
      projectId,
      one.purpose,
      one.userRef,
      one.provider && JSON.stringify(one.provider),
      one.connectionId,
      one.returnUrl,
      one.tokenHash,
      one.now,
      one.expiresAt,
      one.allowAccountChange,
    ],
  )

/** Finds the session of a link and locks it until commit. */
export const lockByToken = (db: Tx, tokenHash: string, now: string) =>
  db.row<Session>(`select ${sessionColumns('$2')} from vault_sessions s where s.token_hash = $1 for no key update`, [
    tokenHash,
    now,
  ])

/** Marks the link as used. From then on the session expires together with the claim. */
export const claimSession = async (
  db: Tx,
  { orgId, id }: Session,
  { claimHash, until, now }: { claimHash: string; until: string; now: string },
) =>
  (await db.row<Session>(
    `update vault_sessions s set claim_hash = $3, claim_expires_at = $4, expires_at = $4, claimed_at = $5::timestamptz
      where s.org_id = $1 and s.id = $2 returning ${sessionColumns('$5')}`,
    [orgId, id, claimHash, until, now],
  )) as Session

export const findByClaim = (db: Sql, { orgId, id }: Place, claimHash: string, now: string) =>
  db.row<Session>(
    `select ${sessionColumns('$4')} from vault_sessions s
      where s.org_id = $1 and s.project_id = $2 and s.claim_hash = $3 and s.claim_expires_at > $4`,
    [orgId, id, claimHash, now],
  )

export const consentTo = async (db: Tx, { orgId, id }: Session, consentVersion: number, now: string) =>
  (await db.row<Session>(
    `update vault_sessions s set consent_version = $3, consented_at = $4::timestamptz
      where s.org_id = $1 and s.id = $2 returning ${sessionColumns('$4')}`,
    [orgId, id, consentVersion, now],
  )) as Session

export const cancelSession = (db: Tx, { orgId, id }: Session) =>
  db.rows(`update vault_sessions set status = 'cancelled' where org_id = $1 and id = $2`, [orgId, id])

export const completeSession = (db: Tx, { orgId, id }: Session, now: string) =>
  db.rows(`update vault_sessions set status = 'completed', completed_at = $3 where org_id = $1 and id = $2`, [
    orgId,
    id,
    now,
  ])

/** Lists the keys of an executor, the current key first. A link that is already in use may name the previous key. */
export const listWrappingKeys = (db: Sql, { orgId, id }: { orgId: string; id: string }) =>
  db.rows<{ jwk: Record<string, string>; thumbprint: string }>(
    `select jwk, thumbprint from vault_wrapping_keys where org_id = $1 and executor_id = $2
      order by current desc, created_at desc, thumbprint`,
    [orgId, id],
  )

/** Lists the newest revision of each slot that has one. */
export const listRevisions = (db: Sql, orgId: string, connectionId: string) =>
  db.rows<{ slot: string; revision: number }>(
    `select slot, max(revision) as revision from vault_credentials where org_id = $1 and connection_id = $2
      group by slot`,
    [orgId, connectionId],
  )

/** Deletes sessions a month after they expired, and registration codes as soon as they expire. */
export async function deleteOld(db: Tx, { now, monthAgo }: { now: string; monthAgo: string }): Promise<void> {
  await db.rows('delete from vault_registration_codes where expires_at <= $1', [now])
  await db.rows('delete from vault_sessions where expires_at <= $1', [monthAgo])
}
