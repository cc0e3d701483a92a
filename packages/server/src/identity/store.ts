import type { User } from '@skerry/contract/me/schemas'
import type { Static } from 'typebox'
import type { Sql, Tx } from '../db/database.ts'
import { tokenInForce } from '../model/tokens/table.ts'
import { hasOwnFactor } from './session-store.ts'
import { ownIssuer } from './session-tokens.ts'

export interface StoredToken {
  id: string
  orgId: string
  role: 'admin' | 'member'
  environmentId: string | null
  expiresAt: string | null
  revokedAt: string | null
  deletedAt: string | null
}

/**
 * Finds a service token. A token that is bound to a branch expires with the branch at the latest, even if the branch is
 * not deleted yet.
 */
export const findServiceToken = (db: Sql, tokenHash: string) =>
  db.row<StoredToken>(
    `select t.id, t.org_id, t.role, t.environment_id, least(t.expires_at, e.expires_at) as expires_at, t.revoked_at,
            t.deleted_at
       from service_tokens t left join environments e on e.org_id = t.org_id and e.id = t.environment_id
      where t.token_hash = $1`,
    [tokenHash],
  )

export const isTokenInForce = async (db: Sql, tokenHash: string, now: string): Promise<boolean> =>
  (await db.row(`select 1 from service_tokens t where t.token_hash = $1 and ${tokenInForce('$2')}`, [
    tokenHash,
    now,
  ])) !== undefined

export const upsertTokenUse = (db: Sql, token: { orgId: string; id: string }, at: string) =>
  db.rows(
    `insert into service_token_uses (org_id, token_id, last_used_at) values ($1, $2, $3)
     on conflict (org_id, token_id) do update set last_used_at = greatest(service_token_uses.last_used_at, $3)`,
    [token.orgId, token.id, at],
  )

export interface StoredCliSession {
  id: string
  userId: string
  secondFactor: boolean
  mfaAt: string | null
  expiresAt: string
  revokedAt: string | null
}

/**
 * SQL: whether the person `u` of a CLI session has a second factor. A factor on this server is looked up, so that a
 * removed one no longer counts. For an external identity provider, its statement at the approval counts.
 */
export const cliFactor = (session: string) =>
  `case when u.issuer = '${ownIssuer}' then ${hasOwnFactor} else ${session}.second_factor end`

/** Finds a CLI session of a person of the configured issuer. */
export const findCliSession = (db: Sql, tokenHash: string, issuer: string) =>
  db.row<StoredCliSession>(
    `select s.id, s.user_id, s.mfa_at, s.expires_at, s.revoked_at,
            ${cliFactor('s')} as second_factor
       from cli_sessions s join users u on u.id = s.user_id
      where s.token_hash = $1 and u.issuer = $2`,
    [tokenHash, issuer],
  )

export const upsertCliSessionUse = (db: Sql, sessionId: string, at: string) =>
  db.rows(
    `insert into cli_session_uses (session_id, last_used_at) values ($1, $2)
     on conflict (session_id) do update set last_used_at = greatest(cli_session_uses.last_used_at, $2)`,
    [sessionId, at],
  )

export const findMachineClient = (db: Sql, id: string) =>
  db.row<{ orgId: string; secretHash: string }>(
    'select org_id, secret_hash from machine_clients where id = $1 and revoked_at is null',
    [id],
  )

export const upsertMachineClientUse = (db: Sql, client: { orgId: string; id: string }, at: string) =>
  db.rows(
    `insert into machine_client_uses (org_id, client_id, last_used_at) values ($1, $2, $3)
     on conflict (org_id, client_id) do update set last_used_at = greatest(machine_client_uses.last_used_at, $3)`,
    [client.orgId, client.id, at],
  )

export const findAccessToken = (db: Sql, tokenHash: string, now: string) =>
  db.row<{ orgId: string; clientId: string }>(
    'select org_id, client_id from machine_tokens where token_hash = $1 and expires_at > $2',
    [tokenHash, now],
  )

/**
 * Returns false if the client was revoked or got another secret meanwhile. The lock makes a transaction that does
 * either wait, so that it sees this token and deletes it.
 */
export const insertAccessToken = async (
  db: Tx,
  token: { orgId: string; clientId: string; secretHash: string; tokenHash: string; expiresAt: string },
): Promise<boolean> =>
  (await db.row(
    `with c as (
       select org_id, id from machine_clients
        where org_id = $1 and id = $2 and secret_hash = $3 and revoked_at is null for share)
     insert into machine_tokens (org_id, client_id, token_hash, expires_at)
     select c.org_id, c.id, $4, $5 from c returning client_id`,
    [token.orgId, token.clientId, token.secretHash, token.tokenHash, token.expiresAt],
  )) !== undefined

export const deleteExpiredAccessTokens = (db: Sql, now: string) =>
  db.rows('delete from machine_tokens where expires_at <= $1', [now])

/**
 * Call this after the row of the client has changed. A token that is issued at the same time is then deleted here, or
 * not issued.
 */
export const deleteAccessTokens = (db: Tx, client: { orgId: string; clientId: string }) =>
  db.rows('delete from machine_tokens where org_id = $1 and client_id = $2', [client.orgId, client.clientId])

/** The user of a session token. */
export const findUser = (db: Sql, issuer: string, subject: string) =>
  db.row<{ id: string; verifiedEmail: string | null }>(
    'select id, verified_email from users where issuer = $1 and subject = $2',
    [issuer, subject],
  )

export const findPerson = (db: Sql, userId: string) =>
  db.row<Static<typeof User>>('select id, email, name, public_key_jwk, created_at from users where id = $1', [userId])

export const listOrgIds = async (db: Sql, userId: string) =>
  (await db.rows<{ orgId: string }>('select org_id from memberships where user_id = $1', [userId])).map(
    (row) => row.orgId,
  )
