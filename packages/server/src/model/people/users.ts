import type { Tx } from '../../db/database.ts'
import { deleteCliSessions } from './cli-sessions.ts'
import { deletePasskeys } from './passkeys.ts'
import { deletePreferences } from './preferences.ts'
import { deleteRecoveryKit } from './recovery-kits.ts'

// All statements that change `users`.

/** A person as an identity provider describes them. */
export interface Person {
  issuer: string
  subject: string
  /** The e-mail address of a person, if the issuer has verified it. Any other address is ignored. */
  verifiedEmail: string | null
  email: string | null
  name: string | null
}

/** A row of an archive. */
type ArchiveRow = Record<string, unknown>

/**
 * Inserts or updates a person. If the first two requests of a person arrive together, the second one uses the row of
 * the first. A person's e-mail address changes only to one that the identity provider reports as verified. An address
 * that it no longer confirms is no longer verified.
 */
export const upsertUser = (db: Tx, user: Person & { id: string; now: string }) =>
  db.row<{ id: string; created: boolean }>(
    `insert into users (id, issuer, subject, email, name, created_at, verified_email) values ($1, $2, $3, $4, $5, $6, $7)
     on conflict (issuer, subject) do update
       set email = coalesce($7, users.email, excluded.email), name = coalesce(excluded.name, users.name),
           verified_email = case when $7::text is null and $4 = users.verified_email then null
                                 else coalesce($7, users.verified_email) end
     returning id, id = $1 as created`,
    [user.id, user.issuer, user.subject, user.email, user.name, user.now, user.verifiedEmail],
  )

export const updateIdentity = (
  db: Tx,
  userId: string,
  { issuer, subject, name }: { issuer: string; subject: string; name: string | null },
) =>
  db.rows('update users set issuer = $2, subject = $3, name = coalesce($4, name) where id = $1', [
    userId,
    issuer,
    subject,
    name,
  ])

/** Returns false if the person already has keys. If two uploads arrive together, one wins. */
export const setKeys = async (db: Tx, userId: string, publicKeyJwk: string, encryptedPrivateKey: string) =>
  (await db.row(
    `update users set public_key_jwk = $2, encrypted_private_key = $3
      where id = $1 and public_key_jwk is null returning id`,
    [userId, publicKeyJwk, encryptedPrivateKey],
  )) !== undefined

/** Returns false if the person has no keys, or another public key than the given one. */
export const resealKeys = async (db: Tx, userId: string, encryptedPrivateKey: string, publicKeyJwk: string | null) =>
  (await db.row(
    `update users set encrypted_private_key = $2
      where id = $1 and public_key_jwk is not null and ($3::text is null or public_key_jwk = $3) returning id`,
    [userId, encryptedPrivateKey, publicKeyJwk],
  )) !== undefined

/** Returns false if the person has no keys, or already has this public key. */
export const replaceKeys = async (db: Tx, userId: string, publicKeyJwk: string, encryptedPrivateKey: string) =>
  (await db.row(
    `update users set public_key_jwk = $2, encrypted_private_key = $3
      where id = $1 and public_key_jwk <> $2 returning id`,
    [userId, publicKeyJwk, encryptedPrivateKey],
  )) !== undefined

/** Inserts a person from an archive, with their former id. */
export const restoreUser = (db: Tx, row: ArchiveRow) =>
  db.rows(
    `insert into users (id, issuer, subject, email, verified_email, name, public_key_jwk, encrypted_private_key, created_at)
     values ($1, $2, $3, $4, $5, $6, $7, $8, $9)`,
    [
      row.id,
      row.issuer,
      row.subject,
      row.email,
      row.verifiedEmail,
      row.name,
      row.publicKeyJwk,
      row.encryptedPrivateKey,
      row.createdAt,
    ],
  )

/** Gives the keys from an archive to a person who has no keys here. */
export const restoreKeys = (db: Tx, row: ArchiveRow) =>
  db.rows(
    `update users set public_key_jwk = $2, encrypted_private_key = coalesce($3, encrypted_private_key)
      where id = $1 and public_key_jwk is null`,
    [row.id, row.publicKeyJwk, row.encryptedPrivateKey],
  )

/** Deletes a person without memberships. Foreign keys delete browser sessions, second factors and challenges. */
export async function deleteUser(db: Tx, userId: string): Promise<void> {
  await deleteCliSessions(db, userId)
  await deletePasskeys(db, userId)
  await deletePreferences(db, userId)
  await deleteRecoveryKit(db, userId)
  await db.rows('delete from users where id = $1', [userId])
}
