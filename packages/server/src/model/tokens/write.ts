import type { Tx } from '../../db/database.ts'
import { type TokenRow, tokenColumns } from './table.ts'

// Every statement that changes `service_tokens`: tokens, and the rows of decoys, which look like revoked tokens.

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

/** Undefined where the id or the hash is registered, in any organization: a hidden token's id is never given out again. */
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

/** False where it was revoked before: the first instant counts. */
export const revokeToken = async (db: Tx, token: OfToken, now: string): Promise<boolean> =>
  (await db.row(
    'update service_tokens set revoked_at = $3 where org_id = $1 and id = $2 and revoked_at is null returning id',
    [token.orgId, token.id, now],
  )) !== undefined

/** False unless it is revoked. Then it is no principal any longer, and its grants go. */
export const hideToken = async (db: Tx, token: OfToken, now: string): Promise<boolean> =>
  (await db.row(
    `update service_tokens set deleted_at = $3
      where org_id = $1 and id = $2 and revoked_at is not null and deleted_at is null returning id`,
    [token.orgId, token.id, now],
  )) !== undefined

/** SQL condition: an archive brought the token, and nobody has registered it since. No hash begins like this. */
export const isUnregistered = `token_hash like 'unregistered %' and deleted_at is null`

/** Undefined where the hash is registered for another, or somebody was faster. */
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

/** The row of a service token that was dead from the beginning. False where a token or a decoy has its id or hash. */
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

/** The row of a decoy, which goes with it. False where somebody else has deleted it since it was found. */
export const deleteDeadToken = async (db: Tx, org: OfOrganization, tokenId: string): Promise<boolean> =>
  (await db.row('delete from service_tokens where org_id = $1 and id = $2 returning id', [org.id, tokenId])) !==
  undefined
