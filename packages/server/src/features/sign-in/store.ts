import type { Sql, Tx } from '../../db/database.ts'
import { ownIssuer } from '../../identity/session-tokens.ts'

export const hasUsers = async (db: Sql): Promise<boolean> => (await db.row('select 1 from users limit 1')) !== undefined

export const insertSetUpLink = (db: Sql, tokenHash: string, expiresAt: string) =>
  db.rows('insert into set_up_links (token_hash, expires_at) values ($1, $2)', [tokenHash, expiresAt])

export const hasSetUpLink = async (db: Tx, tokenHash: string, now: string): Promise<boolean> =>
  (await db.row('select 1 from set_up_links where token_hash = $1 and expires_at > $2 for update', [
    tokenHash,
    now,
  ])) !== undefined

export const deleteSetUpLinks = (db: Tx) => db.rows('delete from set_up_links')

/** Whom a link signs in: users of the built-in sign-in, and addresses that an invitation waits for. */
export const isWelcome = async (db: Sql, email: string, now: string): Promise<boolean> =>
  (await db.row(
    `select 1 where exists (select from users where issuer = '${ownIssuer}' and subject = $1)
                 or exists (select from invitations where email = $1 and expires_at > $2)`,
    [email, now],
  )) !== undefined

export const insertLink = (
  db: Sql,
  link: { tokenHash: string; email: string; returnTo: string | null; expiresAt: string },
) =>
  db.rows('insert into magic_links (token_hash, email, return_to, expires_at) values ($1, $2, $3, $4)', [
    link.tokenHash,
    link.email,
    link.returnTo,
    link.expiresAt,
  ])

/** Of two that bring one link at once, the second finds it gone. */
export const takeLink = (db: Tx, tokenHash: string, now: string) =>
  db.row<{ email: string; returnTo: string | null }>(
    'delete from magic_links where token_hash = $1 and expires_at > $2 returning email, return_to',
    [tokenHash, now],
  )

export async function deleteExpired(db: Sql, now: string): Promise<void> {
  await db.rows('delete from set_up_links where expires_at <= $1', [now])
  await db.rows('delete from magic_links where expires_at <= $1', [now])
  await db.rows('delete from challenges where expires_at <= $1', [now])
  await db.rows('delete from attempts where ends_at <= $1', [now])
}
