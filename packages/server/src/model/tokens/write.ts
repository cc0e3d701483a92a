import type { Tx } from '../../db/database.ts'
import { type TokenRow, tokenColumns } from './table.ts'

// All statements that change `service_tokens`: tokens, and the rows of decoys, which look like revoked tokens.

interface OfOrganization {
  id: string
}
interface OfToken {
  orgId: string
  id: string
}

export interface NewToken {
  id: string
  tokenHash: string
  publicKeyJwk: string
  name: string
  role: string
  environmentId: string | null
  expiresAt: string | null
  expiresAtGiven: string | null
  createdBy: { type: string; id: string }
  now: string
}

/**
 * Returns undefined if the id or the hash is registered in any organization. The id of a hidden token is never used
 * again.
 */
export const insertToken = (db: Tx, org: OfOrganization, token: NewToken) =>
  db.row<TokenRow>(
    `with t as (
       insert into service_tokens (org_id, id, token_hash, public_key_jwk, name, role, environment_id, expires_at,
                                   expires_at_given, created_by_type, created_by_id, created_at)
       values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12)
       on conflict do nothing
       returning *)
     select ${tokenColumns} from t left join service_token_uses u on u.org_id = t.org_id and u.token_id = t.id`,
    [
      org.id,
      token.id,
      token.tokenHash,
      token.publicKeyJwk,
      token.name,
      token.role,
      token.environmentId,
      token.expiresAt,
      token.expiresAtGiven,
      token.createdBy.type,
      token.createdBy.id,
      token.now,
    ],
  )

export const renameToken = (db: Tx, token: OfToken, name: string) =>
  db.rows('update service_tokens set name = $3 where org_id = $1 and id = $2', [token.orgId, token.id, name])

/** Returns false if the token was already revoked. The first instant is kept. */
export const revokeToken = async (db: Tx, token: OfToken, now: string): Promise<boolean> =>
  (await db.row(
    'update service_tokens set revoked_at = $3 where org_id = $1 and id = $2 and revoked_at is null returning id',
    [token.orgId, token.id, now],
  )) !== undefined

/**
 * Hides a revoked token. It is then no longer a principal, and its grants are deleted. Returns false if it is not
 * revoked.
 */
export const hideToken = async (db: Tx, token: OfToken, now: string): Promise<boolean> =>
  (await db.row(
    `update service_tokens set deleted_at = $3
      where org_id = $1 and id = $2 and revoked_at is not null and deleted_at is null returning id`,
    [token.orgId, token.id, now],
  )) !== undefined

/**
 * SQL condition: the token comes from an archive, and nobody has registered it since. No real hash begins like this.
 */
export const isUnregistered = `token_hash like 'unregistered %' and deleted_at is null`

/** Returns undefined if the hash belongs to another token, or the token was registered meanwhile. */
export const registerRestored = (db: Tx, org: OfOrganization, id: string, tokenHash: string) =>
  db.row<TokenRow>(
    `with t as (
       update service_tokens set token_hash = $3
        where org_id = $1 and id = $2 and ${isUnregistered}
          and not exists (select from service_tokens other where other.token_hash = $3)
       returning *)
     select ${tokenColumns} from t left join service_token_uses u on u.org_id = t.org_id and u.token_id = t.id`,
    [org.id, id, tokenHash],
  )

/** Inserts the row of a token that was never valid. Returns false if a token or a decoy already has its id or hash. */
export const insertDeadToken = async (
  db: Tx,
  org: OfOrganization,
  token: { id: string; tokenHash: string; createdBy: { type: string; id: string }; now: string },
): Promise<boolean> =>
  (await db.row(
    `insert into service_tokens (org_id, id, token_hash, name, role, created_by_type, created_by_id, created_at,
                                 revoked_at, deleted_at)
     values ($1, $2, $3, '', 'member', $4, $5, $6, $6, $6)
     on conflict do nothing returning id`,
    [org.id, token.id, token.tokenHash, token.createdBy.type, token.createdBy.id, token.now],
  )) !== undefined

/** Deletes the row of a decoy. Returns false if somebody else has deleted it since it was found. */
export const deleteDeadToken = async (db: Tx, org: OfOrganization, tokenId: string): Promise<boolean> =>
  (await db.row('delete from service_tokens where org_id = $1 and id = $2 returning id', [org.id, tokenId])) !==
  undefined
