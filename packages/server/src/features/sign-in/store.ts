import type { LinkedInvitation } from '@skerry/contract/sign-in/schemas'
import type { Static } from 'typebox'
import type { Sql, Tx } from '../../db/database.ts'
import { hasOwnFactor } from '../../identity/session-store.ts'
import { ownIssuer } from '../../identity/session-tokens.ts'
import { shownInviteColumns, shownInviteJoins } from '../members/scope.ts'

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

export const isNamed = async (db: Sql, subject: string): Promise<boolean> =>
  (await db.row(`select 1 from users where issuer = '${ownIssuer}' and subject = $1 and name is not null`, [
    subject,
  ])) !== undefined

/** Whether a link may sign this address in: it belongs to a user of the built-in sign-in, or an invitation waits for it. */
export const isWelcome = async (db: Sql, email: string, now: string): Promise<boolean> =>
  (await db.row(
    `select 1 where exists (select from users where issuer = '${ownIssuer}' and subject = $1)
                 or exists (select from invitations where email = $1 and accepted_at is null and expires_at > $2)`,
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

/**
 * Inserts the link of a pending invitation, which expires with it. The link in an earlier mail stops working. Returns
 * false if the invitation is over.
 */
/** Undefined if the invitation is over. */
export const insertInvitationLink = (
  db: Sql,
  link: { tokenHash: string; inviteId: string; email: string; accountUntil: string; now: string },
) =>
  db.row<{ hasCode: boolean }>(
    `with earlier as (delete from magic_links where invite_id = $2)
     insert into magic_links (token_hash, email, invite_id, expires_at, account_until)
     select $1, email, id, expires_at, $4 from invitations
      where id = $2 and email = $3 and accepted_at is null and expires_at > $5
     returning (select joining is not null from invitations where id = $2) as has_code`,
    [link.tokenHash, link.inviteId, link.email, link.accountUntil, link.now],
  )

/**
 * SQL condition on magic_links l: the link still signs somebody in. The link of an invitation ends with the invitation. It
 * lives for days, and forwarded mails and archives of mails contain it, so it opens an existing account for a shorter time.
 */
const signsIn = (now: `$${number}`) => `l.used_at is null and l.expires_at > ${now}
  and (l.invite_id is null
       or exists (select from invitations w where w.id = l.invite_id and w.email = l.email
                     and w.accepted_at is null and w.expires_at > ${now}))
  and (l.account_until is null or l.account_until > ${now}
       or not exists (select from users u where u.verified_email = l.email))`

/** Takes a link. If it is sent twice at once, the second request finds it used. */
export const takeLink = (db: Tx, tokenHash: string, now: string) =>
  db.row<{ email: string; returnTo: string | null; inviteId: string | null }>(
    `update magic_links l set used_at = $2 where l.token_hash = $1 and ${signsIn('$2')}
     returning l.email, l.return_to, l.invite_id`,
    [tokenHash, now],
  )

/** Finds the invitation of a link, also after it was accepted. */
export const findInvitation = (db: Sql, tokenHash: string, now: string) =>
  db.row<Static<typeof LinkedInvitation>>(
    `select ${shownInviteColumns}, i.email, i.joining is not null as has_joining_code, l.used_at, i.accepted_at,
            i.role = 'admin' and not exists (
              select from memberships m where m.org_id = i.org_id and m.role = 'owner') as becomes_owner,
            ${signsIn('$2')} as signs_in
       from magic_links l join invitations i on i.id = l.invite_id and i.email = l.email
       ${shownInviteJoins}
      where l.token_hash = $1 and l.expires_at > $2`,
    [tokenHash, now],
  )

export const hasSecondFactor = async (db: Sql, userId: string): Promise<boolean> =>
  (await db.row(`select 1 from users u where u.id = $1 and ${hasOwnFactor}`, [userId])) !== undefined

export async function deleteExpired(db: Sql, now: string): Promise<void> {
  await db.rows('delete from set_up_links where expires_at <= $1 and used_at is null', [now])
  await db.rows('delete from magic_links where expires_at <= $1', [now])
}
