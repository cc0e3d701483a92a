import type { Sql, Tx } from '../db/database.ts'

interface OfProject {
  orgId: string
  id: string
  projectId: string
}

export const findPlatformKey = (db: Sql, keyHash: string) =>
  db.row<OfProject>('select org_id, id, project_id from vault_keys where key_hash = $1 and revoked_at is null', [
    keyHash,
  ])

export const findExecutor = (db: Sql, credentialHash: string) =>
  db.row<OfProject>(
    `select org_id, id, project_id from vault_executors where credential_hash = $1 and status = 'active'`,
    [credentialHash],
  )

export const findClaim = (db: Sql, claimHash: string, now: string) =>
  db.row<{ orgId: string; projectId: string; sessionId: string; userRef: string }>(
    `select org_id, project_id, id as session_id, user_ref from vault_sessions
      where claim_hash = $1 and claim_expires_at > $2`,
    [claimHash, now],
  )

export interface VaultUse {
  orgId: string
  id: string
  at: string
}

/** Writes in the order of the ids, so that servers that write the same rows do not deadlock. */
export const upsertVaultUses = (db: Sql, uses: VaultUse[]) =>
  db.rows(
    `insert into vault_uses (org_id, id, last_used_at)
     select org_id, id, at from jsonb_to_recordset($1::jsonb) as used (org_id text, id text, at timestamptz) order by id
     on conflict (org_id, id) do update set last_used_at = greatest(vault_uses.last_used_at, excluded.last_used_at)`,
    [JSON.stringify(uses.map(({ orgId, id, at }) => ({ org_id: orgId, id, at })))],
  )

export const deleteVaultUses = (db: Tx, orgId: string, ids: readonly string[]) =>
  db.rows('delete from vault_uses where org_id = $1 and id = any($2)', [orgId, ids])
