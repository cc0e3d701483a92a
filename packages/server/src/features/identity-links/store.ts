import type { Sql, Tx } from '../../db/database.ts'

export interface IdentityLink {
  browserHash: string
  userId: string
  issuer: string
  subject: string
  email: string
  name: string | null
  issuerSecondFactor: boolean
  mfaAt: string | null
  returnTo: string
  mailHash: string | null
  mailExpiresAt: string | null
  mailboxConfirmedAt: string | null
  expiresAt: string
}

export const insertIdentityLink = (
  db: Tx,
  link: Omit<IdentityLink, 'mailHash' | 'mailExpiresAt' | 'mailboxConfirmedAt'> & { now: string },
) =>
  db.rows(
    `insert into identity_links (browser_hash, user_id, issuer, subject, email, name, issuer_second_factor, mfa_at,
                                 return_to, created_at, expires_at)
     values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11)`,
    [
      link.browserHash,
      link.userId,
      link.issuer,
      link.subject,
      link.email,
      link.name,
      link.issuerSecondFactor,
      link.mfaAt,
      link.returnTo,
      link.now,
      link.expiresAt,
    ],
  )

const found = `
  select browser_hash, user_id, issuer, subject, email, name, issuer_second_factor, mfa_at, return_to, mail_hash,
         mail_expires_at, mailbox_confirmed_at, expires_at
    from identity_links where browser_hash = $1 and issuer = $2 and expires_at > $3`

/** Finds only a sign-in at the configured issuer. A former issuer is no longer trusted. */
export const findIdentityLink = (db: Sql, browserHash: string, issuer: string, now: string) =>
  db.row<IdentityLink>(found, [browserHash, issuer, now])

/** Locks the row, so that a second answer at the same time sees the result of the first. */
export const lockIdentityLink = (db: Tx, browserHash: string, issuer: string, now: string) =>
  db.row<IdentityLink>(`${found} for update`, [browserHash, issuer, now])

/** Replaces the token of an earlier mail. Returns undefined if the sign-in no longer waits. */
export const setMailHash = (db: Sql, browserHash: string, mail: { hash: string; expiresAt: string }, now: string) =>
  db.row<{ email: string; issuer: string }>(
    `update identity_links set mail_hash = $2, mail_expires_at = $3
      where browser_hash = $1 and expires_at > $4 and mailbox_confirmed_at is null returning email, issuer`,
    [browserHash, mail.hash, mail.expiresAt, now],
  )

export const confirmMailbox = (db: Tx, browserHash: string, now: string) =>
  db.rows('update identity_links set mailbox_confirmed_at = $2, mail_hash = null where browser_hash = $1', [
    browserHash,
    now,
  ])

export const deleteIdentityLink = (db: Tx, browserHash: string) =>
  db.rows('delete from identity_links where browser_hash = $1', [browserHash])

export const deleteExpired = (db: Sql, now: string) =>
  db.rows('delete from identity_links where expires_at <= $1', [now])
