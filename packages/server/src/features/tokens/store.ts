import type { ServiceToken } from '@skerry/contract/tokens'
import type { Static } from 'typebox'
import type { Sql, Tx } from '../../db/database.ts'
import type { KeysetCursor } from '../../http/page.ts'
import type { Org } from '../orgs/scope.ts'
import type { Token } from './scope.ts'
import { tokenColumns } from './scope.ts'

type Row = Static<typeof ServiceToken>

export const listTokens = (db: Sql, org: Org, cursor: KeysetCursor) =>
  db.rows<Row>(
    `select ${tokenColumns} from service_tokens t
       left join service_token_uses u on u.org_id = t.org_id and u.token_id = t.id
      where t.org_id = $1 and t.deleted_at is null and ($2::timestamptz is null or (t.created_at, t.id) > ($2, $3))
      order by t.created_at, t.id limit $4`,
    [org.id, cursor.at, cursor.id, cursor.take],
  )

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
export const insertToken = (db: Tx, org: Org, token: NewToken) =>
  db.row<Row>(
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

export const renameToken = (db: Tx, token: Token, name: string) =>
  db.rows('update service_tokens set name = $3 where org_id = $1 and id = $2', [token.orgId, token.id, name])

/** False where it was revoked before: the first instant counts. */
export const revokeToken = async (db: Tx, token: Token, now: string): Promise<boolean> =>
  (await db.row(
    'update service_tokens set revoked_at = $3 where org_id = $1 and id = $2 and revoked_at is null returning id',
    [token.orgId, token.id, now],
  )) !== undefined

/** The environments whose key was wrapped to the token. */
export const listGrantedEnvironments = async (db: Sql, token: Token): Promise<string[]> => {
  const rows = await db.rows<{ environmentId: string }>(
    `select environment_id from key_grants
      where org_id = $1 and principal_type = 'service_token' and principal_id = $2 order by environment_id`,
    [token.orgId, token.id],
  )
  return rows.map(({ environmentId }) => environmentId)
}

/** False unless it is revoked. Then it is no principal any longer, and its grants go. */
export const hideToken = async (db: Tx, token: Token, now: string): Promise<boolean> =>
  (await db.row(
    `update service_tokens set deleted_at = $3
      where org_id = $1 and id = $2 and revoked_at is not null and deleted_at is null returning id`,
    [token.orgId, token.id, now],
  )) !== undefined

/** One that an archive brought and nobody has registered since: no hash begins like this. */
const isUnregistered = `token_hash like 'unregistered %' and deleted_at is null`

export const findRestored = (db: Tx, org: Org, id: string) =>
  db.row<{ publicKeyJwk: string; role: string; environmentId: string | null }>(
    `select public_key_jwk, role, environment_id from service_tokens where org_id = $1 and id = $2 and ${isUnregistered}`,
    [org.id, id],
  )

/** Undefined where the hash is registered for another, or somebody was faster. */
export const registerRestored = (db: Tx, org: Org, id: string, tokenHash: string) =>
  db.row<Row>(
    `with t as (
       update service_tokens set token_hash = $3
        where org_id = $1 and id = $2 and ${isUnregistered}
          and not exists (select from service_tokens other where other.token_hash = $3)
       returning *)
     select ${tokenColumns} from t left join service_token_uses u on u.org_id = t.org_id and u.token_id = t.id`,
    [org.id, id, tokenHash],
  )
