import type { Sql, Tx } from '../db/database.ts'
import { revokeCliSessions } from '../model/people/cli-sessions.ts'
import type { Person } from '../model/people/users.ts'

/** SQL condition on a row of `users`: the person is a member somewhere or has a keyring. */
const hasBelongings = (user: 'u' | 's') =>
  `(${user}.public_key_jwk is not null or exists (select from memberships m where m.user_id = ${user}.id))`

/**
 * Lists people of other issuers with this verified address. At most two are read: with two, nobody can tell which one
 * is meant. The list is empty if the identity belongs to a person with a membership or a keyring, because such accounts
 * are never merged here.
 */
export const listLinkable = (db: Sql, { issuer, subject, verifiedEmail }: Person) =>
  db.rows<{ id: string }>(
    `select u.id from users u
      where u.verified_email = $1 and u.issuer <> $2 and ${hasBelongings('u')}
        and not exists (select from users s where s.issuer = $2 and s.subject = $3 and ${hasBelongings('s')})
      order by u.id limit 2`,
    [verifiedEmail, issuer, subject],
  )

export interface IdentityRow {
  id: string
  issuer: string
  subject: string
  email: string | null
  verifiedEmail: string | null
}

/** Locks the person and the account with the identity, so that neither joins an organization meanwhile. */
export const lockIdentities = (db: Tx, userId: string, issuer: string, subject: string) =>
  db.rows<IdentityRow>(
    `select id, issuer, subject, email, verified_email from users
      where id = $1 or (issuer = $2 and subject = $3) order by id for update`,
    [userId, issuer, subject],
  )

/** Whether the person has memberships or keys. Call it after `lockIdentities`, in the same transaction. */
export const ownsAnything = async (db: Tx, userId: string): Promise<boolean> =>
  (await db.row(`select 1 from users u where u.id = $1 and ${hasBelongings('u')}`, [userId])) !== undefined

/** Ends browser sessions and CLI sessions. */
export async function endSessions(db: Tx, userId: string, now: string): Promise<void> {
  await db.rows('update sessions set ended_at = $2 where user_id = $1 and ended_at is null', [userId, now])
  await revokeCliSessions(db, userId, now)
}
