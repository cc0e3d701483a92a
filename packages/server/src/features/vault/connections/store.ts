import type { VaultSlot, vaultRevokers } from '@skerry/contract/vault/facts'
import type { ConnectionsQuery } from '@skerry/contract/vault/schemas'
import type { Static } from 'typebox'
import type { Sql, Tx } from '../../../db/database.ts'
import type { KeysetCursor } from '../../../http/page.ts'
import { fail } from '../../../kernel/errors.ts'
import type { ConnectionStatus } from '../lifecycles.ts'
import { type Connection, connectionColumns, type Place } from './scope.ts'

export type Revoker = (typeof vaultRevokers)[number]

type Filter = Pick<Static<typeof ConnectionsQuery>, 'userRef' | 'status'>

export const listConnections = (db: Sql, { orgId, id }: Place, filter: Filter, cursor: KeysetCursor) =>
  db.rows<Connection>(
    `select ${connectionColumns} from vault_connections c
      where c.org_id = $1 and c.project_id = $2 and ($3::text is null or c.user_ref = $3)
        and ($4::text is null or c.status = $4)
        and ($5::timestamptz is null or (c.created_at, c.id) > ($5, $6))
      order by c.created_at, c.id limit $7`,
    [orgId, id, filter.userRef ?? null, filter.status ?? null, cursor.at, cursor.id, cursor.take],
  )

/** Reads the current row and locks it until commit. Throws `not_found` if an erasure deleted the row meanwhile. */
export async function lockConnection(db: Tx, { orgId, id }: Pick<Connection, 'orgId' | 'id'>): Promise<Connection> {
  const lock = 'select 1 from vault_connections where org_id = $1 and id = $2 for no key update'
  if (!(await db.row(lock, [orgId, id]))) throw fail('not_found', 'no such connection')
  return reread(db, { orgId, id })
}

/**
 * Reads the connection in its own statement, after the lock. A statement that waited for the lock would read other
 * tables as they were before its wait.
 */
export const reread = async (db: Tx, { orgId, id }: Pick<Connection, 'orgId' | 'id'>) =>
  (await db.row<Connection>(`select ${connectionColumns} from vault_connections c where c.org_id = $1 and c.id = $2`, [
    orgId,
    id,
  ])) as Connection

interface NewConnection {
  id: string
  userRef: string
  providerId: string
  providerName: string
  method: string
  accountLabel: string | null
  accountDigest: string | null
  consentedAt: string
  consentVersion: number
  now: string
}

export const insertConnection = (db: Tx, { orgId, id: projectId }: Place, one: NewConnection) =>
  db.rows(
    `insert into vault_connections (org_id, id, project_id, user_ref, provider_id, provider_name, method, account_label,
                                    status, consented_at, consent_version, created_at, updated_at, account_digest)
     values ($1, $2, $3, $4, $5, $6, $7, $8, 'active', $9, $10, $11, $11, $12)`,
    [
      orgId,
      one.id,
      projectId,
      one.userRef,
      one.providerId,
      one.providerName,
      one.method,
      one.accountLabel,
      one.consentedAt,
      one.consentVersion,
      one.now,
      one.accountDigest,
    ],
  )

/** Returns null if the executor could not identify the account. */
export const findAccountDigest = async (db: Tx, { orgId, id }: Connection) =>
  (
    await db.row<{ accountDigest: string | null }>(
      'select account_digest from vault_connections where org_id = $1 and id = $2',
      [orgId, id],
    )
  )?.accountDigest ?? null

/** Updates the connection from a new sign-in. If the account changed, the label of the old account is removed. */
export const repairConnection = (
  db: Tx,
  { orgId, id }: Connection,
  one: Pick<
    NewConnection,
    'providerName' | 'accountLabel' | 'accountDigest' | 'consentedAt' | 'consentVersion' | 'now'
  >,
) =>
  db.rows(
    `update vault_connections set status = 'active', status_reason = null, provider_name = $3,
            account_label = case when account_digest <> $8 then $4 else coalesce($4, account_label) end,
            account_digest = coalesce($8, account_digest), consented_at = $5, consent_version = $6, updated_at = $7
      where org_id = $1 and id = $2`,
    [orgId, id, one.providerName, one.accountLabel, one.consentedAt, one.consentVersion, one.now, one.accountDigest],
  )

export const moveConnection = (
  db: Tx,
  { orgId, id }: Connection,
  { status, reason, now }: { status: ConnectionStatus; reason: string | null; now: string },
) =>
  db.rows(
    'update vault_connections set status = $3, status_reason = $4, updated_at = $5 where org_id = $1 and id = $2',
    [orgId, id, status, reason, now],
  )

/** Revokes the connection, deletes its credentials, and cancels every pending session that could repair it. */
export async function endConnection(
  db: Tx,
  { orgId, id }: Connection,
  { by, now }: { by: Revoker; now: string },
): Promise<void> {
  await db.rows('delete from vault_credentials where org_id = $1 and connection_id = $2', [orgId, id])
  await db.rows(
    `update vault_sessions set status = 'cancelled'
      where org_id = $1 and connection_id = $2 and status = 'pending' and expires_at > $3`,
    [orgId, id, now],
  )
  await db.rows(
    `update vault_connections set status = 'revoked', status_reason = null, revoked_at = $3, revoked_by = $4, updated_at = $3
      where org_id = $1 and id = $2`,
    [orgId, id, now, by],
  )
}

export interface SealedCredential {
  slot: VaultSlot
  revision: number
  ciphertext: string
  wrappedDek: string
  keyThumbprint: string
}

/** Stores a new revision of a slot. The previous revision is kept, because an executor may still be using it. */
export async function putCredential(
  db: Tx,
  { orgId, id }: Pick<Connection, 'orgId' | 'id'>,
  one: SealedCredential,
  now: string,
): Promise<void> {
  await db.rows(
    `insert into vault_credentials (org_id, connection_id, slot, revision, ciphertext, wrapped_dek, key_thumbprint,
                                    created_at)
     values ($1, $2, $3, $4, $5, $6, $7, $8)`,
    [orgId, id, one.slot, one.revision, one.ciphertext, one.wrappedDek, one.keyThumbprint, now],
  )
  await db.rows(
    'delete from vault_credentials where org_id = $1 and connection_id = $2 and slot = $3 and revision < $4 - 1',
    [orgId, id, one.slot, one.revision],
  )
}
