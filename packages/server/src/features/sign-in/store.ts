import type { Sql, Tx } from '../../db/database.ts'
import { hasOwnFactor } from '../../identity/session-store.ts'
import { ownIssuer } from '../../identity/session-tokens.ts'

export const hasUsers = async (db: Sql): Promise<boolean> => (await db.row('select 1 from users limit 1')) !== undefined

export const insertSetUpLink = (db: Sql, tokenHash: string, expiresAt: string) =>
  db.rows('insert into set_up_links (token_hash, expires_at) values ($1, $2)', [tokenHash, expiresAt])

/** Whether any organization has an owner, who can invite everybody else. */
const someOwner = `exists (select from memberships where role = 'owner')`

/**
 * A trigger deletes unused links with the first owner. The owner is looked for as well, because a server that starts at the
 * same time may store its link a moment later.
 */
export const hasSetUpLink = async (db: Tx, tokenHash: string, now: string): Promise<boolean> =>
  (await db.row(
    `select 1 from set_up_links
      where token_hash = $1 and expires_at > $2 and used_at is null and not ${someOwner} for update`,
    [tokenHash, now],
  )) !== undefined

/** Deletes all other links. If two people use a link each at the same time, the second waits here and finds none. */
export async function useSetUpLink(db: Tx, tokenHash: string, now: string): Promise<void> {
  await db.rows('delete from set_up_links where token_hash <> $1', [tokenHash])
  await db.rows('update set_up_links set used_at = $2 where token_hash = $1', [tokenHash, now])
}

export const isSetUp = async (db: Sql): Promise<boolean> =>
  (await db.row(`select 1 where ${someOwner} or exists (select from set_up_links where used_at is not null)`)) !==
  undefined

export const hasUser = async (db: Sql, subject: string): Promise<boolean> =>
  (await db.row(`select 1 from users where issuer = '${ownIssuer}' and subject = $1`, [subject])) !== undefined

/** Whether a link may sign this address in: it belongs to a user of the built-in sign-in, or an invitation waits for it. */
export const isWelcome = async (db: Sql, email: string, now: string): Promise<boolean> =>
  (await db.row(
    `select 1 where exists (select from users where issuer = '${ownIssuer}' and subject = $1)
                 or exists (select from invitations where email = $1 and expires_at > $2)`,
    [email, now],
  )) !== undefined

export const insertLink = (
  db: Sql,
  link: { tokenHash: string; email: string; returnTo: string | null; inviteId: string | null; expiresAt: string },
) =>
  db.rows('insert into magic_links (token_hash, email, return_to, invite_id, expires_at) values ($1, $2, $3, $4, $5)', [
    link.tokenHash,
    link.email,
    link.returnTo,
    link.inviteId,
    link.expiresAt,
  ])

/** Takes a link. If it is sent twice at once, the second request finds it gone. */
export const takeLink = (db: Tx, tokenHash: string, now: string) =>
  db.row<{ email: string; returnTo: string | null; inviteId: string | null }>(
    'delete from magic_links where token_hash = $1 and expires_at > $2 returning email, return_to, invite_id',
    [tokenHash, now],
  )

export const hasSecondFactor = async (db: Sql, userId: string): Promise<boolean> =>
  (await db.row(`select 1 from users u where u.id = $1 and ${hasOwnFactor}`, [userId])) !== undefined

export async function deleteExpired(db: Sql, now: string): Promise<void> {
  await db.rows('delete from set_up_links where expires_at <= $1 and used_at is null', [now])
  await db.rows('delete from magic_links where expires_at <= $1', [now])
}
