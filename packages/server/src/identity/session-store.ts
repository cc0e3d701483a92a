import type { Sql, Tx } from '../db/database.ts'

interface SigningKeyRow {
  id: string
  publicKeyJwk: string
  sealedPrivateKey: string
  createdAt: string
}

const signingKeyColumns = 'id, public_key_jwk, sealed_private_key, created_at'

export const newestSigningKey = (db: Sql) =>
  db.row<SigningKeyRow>(`select ${signingKeyColumns} from signing_keys order by created_at desc, id limit 1`)

export const findSigningKey = (db: Sql, id: string) =>
  db.row<SigningKeyRow>(`select ${signingKeyColumns} from signing_keys where id = $1`, [id])

export const listSigningKeys = (db: Sql, since: string) =>
  db.rows<SigningKeyRow>(`select ${signingKeyColumns} from signing_keys where created_at > $1 order by created_at`, [
    since,
  ])

export const insertSigningKey = (db: Sql, key: SigningKeyRow) =>
  db.rows(`insert into signing_keys (${signingKeyColumns}) values ($1, $2, $3, $4)`, [
    key.id,
    key.publicKeyJwk,
    key.sealedPrivateKey,
    key.createdAt,
  ])

export const deleteSigningKeys = (db: Sql, before: string) =>
  db.rows('delete from signing_keys where created_at <= $1', [before])

/** SQL condition on `users u`: the person has a second factor on this server. */
export const hasOwnFactor = `(exists (select from totp_factors f where f.user_id = u.id and f.confirmed_at is not null)
  or exists (select from sign_in_passkeys p where p.user_id = u.id))`

/**
 * SQL: whether the person of a browser session `s` has a second factor. For an external identity provider, its
 * statement at the sign-in counts.
 */
export const browserFactor = `coalesce(s.issuer_second_factor, ${hasOwnFactor})`

/**
 * Finds a valid session of a person of the configured issuer. For an external identity provider, the stored statement
 * about the second factor counts. A second factor on this server is looked up.
 */
export const findSession = (db: Sql, id: string, userId: string, issuer: string, now: string) =>
  db.row<{ mfaAt: string | null; secondFactor: boolean }>(
    `select s.mfa_at, ${browserFactor} as second_factor
       from sessions s join users u on u.id = s.user_id
      where s.id = $1 and s.user_id = $2 and u.issuer = $3 and s.ended_at is null and s.expires_at > $4`,
    [id, userId, issuer, now],
  )

export interface NewSession {
  id: string
  userId: string
  mfaAt: string | null
  issuerSecondFactor: boolean | null
  ipAddress: string | null
  userAgent: string | null
  now: string
  expiresAt: string
  endsAt: string
}

export const insertSession = (db: Tx, session: NewSession) =>
  db.rows(
    `insert into sessions (id, user_id, mfa_at, issuer_second_factor, ip_address, user_agent, created_at, last_used_at,
                           expires_at, ends_at)
     values ($1, $2, $3, $4, $5, $6, $7, $7, $8, $9)`,
    [
      session.id,
      session.userId,
      session.mfaAt,
      session.issuerSecondFactor,
      session.ipAddress,
      session.userAgent,
      session.now,
      session.expiresAt,
      session.endsAt,
    ],
  )

export const insertRefreshToken = (db: Tx, tokenHash: string, sessionId: string) =>
  db.rows('insert into refresh_tokens (token_hash, session_id) values ($1, $2)', [tokenHash, sessionId])

export interface RefreshedSession {
  id: string
  userId: string
  mfaAt: string | null
  endsAt: string
  expiresAt: string
  spentAt: string | null
}

/**
 * Finds and locks the valid session of a refresh token, whether the token was used or not. Both rows are locked. A
 * concurrent request with a token of the same session waits, and then sees what this transaction did.
 */
export const lockSessionOf = (db: Tx, tokenHash: string, issuer: string, now: string) =>
  db.row<RefreshedSession>(
    `select s.id, s.user_id, s.mfa_at, s.ends_at, s.expires_at, r.spent_at
       from refresh_tokens r
       join sessions s on s.id = r.session_id
       join users u on u.id = s.user_id
      where r.token_hash = $1 and u.issuer = $2 and s.ended_at is null and s.expires_at > $3
        for update of r, s`,
    [tokenHash, issuer, now],
  )

export const isUnspent = async (db: Tx, tokenHash: string): Promise<boolean> =>
  (await db.row('select 1 from refresh_tokens where token_hash = $1 and spent_at is null', [tokenHash])) !== undefined

export const spendRefreshToken = (db: Tx, tokenHash: string, now: string) =>
  db.rows('update refresh_tokens set spent_at = $2 where token_hash = $1', [tokenHash, now])

export const useSession = (db: Tx, id: string, now: string, expiresAt: string) =>
  db.rows('update sessions set last_used_at = $2, expires_at = $3 where id = $1', [id, now, expiresAt])

/** Returns false if the session had already ended or belongs to another person. */
export const endSession = async (db: Tx, id: string, userId: string, now: string): Promise<boolean> =>
  (await db.row(
    `update sessions set ended_at = $3
      where id = $1 and user_id = $2 and ended_at is null and expires_at > $3 returning id`,
    [id, userId, now],
  )) !== undefined

/** Records when a second factor was entered. Returns undefined if the session has ended meanwhile. */
export const stampSession = (db: Tx, id: string, now: string) =>
  db.row<{ userId: string; expiresAt: string }>(
    'update sessions set mfa_at = $2 where id = $1 and ended_at is null and expires_at > $2 returning user_id, expires_at',
    [id, now],
  )

/** Deletes sessions that expired or ended before the given instant. The caller keeps them for a day. */
export const deleteOldSessions = (db: Sql, before: string) =>
  db.rows('delete from sessions where expires_at <= $1 or ended_at <= $1', [before])
