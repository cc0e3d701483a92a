import type { identityLinks } from '@skerry/contract/identity-links/endpoints'
import { type In, type Out, Reply } from '../../http/route.ts'
import { auditUser } from '../../identity/audit-user.ts'
import { checkSameOrigin, readCookie } from '../../identity/cookies.ts'
import { linkIdentity } from '../../identity/linking.ts'
import { assertionOptions } from '../../identity/passkeys.ts'
import { issuerOf, startSession } from '../../identity/sessions.ts'
import { returnAttempt, takeAttempt } from '../../identity/throttle.ts'
import { makeUser } from '../../identity/users.ts'
import { sha256 } from '../../kernel/context.ts'
import { fail, refuseAndCommit } from '../../kernel/errors.ts'
import type { Person } from '../../model/people/users.ts'
import { checkOneFactor, isRightFactor } from '../second-factor/enter.ts'
import { findOwnFactors } from '../second-factor/second-factor.ts'
import { confirmationMail, linkedNotice } from './jobs.ts'
import { confirmMailbox, deleteIdentityLink, findIdentityLink, type IdentityLink, lockIdentityLink } from './store.ts'

// A person who came from the issuer confirms with the sign-in of the existing account: a mailed link, and the second factor
// where that account has one. Every step needs the cookie of the browser that came from the issuer, so a link that was sent
// to somebody else, or taken from them, links nothing.

export async function get(input: In<typeof identityLinks.get>): Out<typeof identityLinks.get> {
  const { db, context, headers, now } = input
  const token = readCookie(context.config, headers, 'skerry-identity')
  const link = token && (await findIdentityLink(db, sha256(token), issuerOf(context), now))
  if (!link) return { link: null }
  const { issuer, email, name, expiresAt, mailboxConfirmedAt } = link
  // Access to the mailbox comes first: until then nobody learns how the account is protected.
  const secondFactor = mailboxConfirmedAt === null ? null : await findOwnFactors(db, link.userId)
  return { link: { issuer, email, name, secondFactor, expiresAt } }
}

export async function requestMail(input: In<typeof identityLinks.requestMail>): Out<typeof identityLinks.requestMail> {
  const link = await waitingLink(input)
  await takeAttempt(input.db, 'mailbox', link.email, input.now)
  await input.enqueue(confirmationMail, { browserHash: link.browserHash })
  return { ok: true }
}

/** Confirms the mailbox. The token works once, also if a second factor must still be entered. */
export async function confirm(input: In<typeof identityLinks.confirm>): Out<typeof identityLinks.confirm> {
  const { db, body, now, origin } = input
  const link = await waitingLink(input)
  const caller = origin.ipAddress ?? ''
  await takeAttempt(db, 'sign_in', caller, now)
  if (link.mailHash !== sha256(body.token) || link.mailExpiresAt === null || link.mailExpiresAt <= now)
    return refuseAndCommit('unauthorized', 'this link has expired or was already used; ask for a new one')
  returnAttempt(db, 'sign_in', caller)
  const { returnTo } = link
  const secondFactor = await findOwnFactors(db, link.userId)
  if (secondFactor) {
    await confirmMailbox(db, link.browserHash, now)
    return { session: null, secondFactor, returnTo }
  }
  const { session, headers } = await complete(input, link)
  return new Reply(200, { session, secondFactor: null, returnTo }, headers)
}

export async function passkeyOptions(
  input: In<typeof identityLinks.passkeyOptions>,
): Out<typeof identityLinks.passkeyOptions> {
  const link = await confirmedLink(input)
  return assertionOptions(input, link.userId)
}

export async function enterSecondFactor(
  input: In<typeof identityLinks.enterSecondFactor>,
): Out<typeof identityLinks.enterSecondFactor> {
  const { db, body, now } = input
  checkOneFactor(body)
  const link = await confirmedLink(input)
  const { userId, returnTo } = link
  await takeAttempt(db, 'second_factor', userId, now)
  if (!(await isRightFactor(input, userId, body)))
    return refuseAndCommit('forbidden', 'the second factor is wrong, or was used before')
  returnAttempt(db, 'second_factor', userId)
  if (body.recoveryCode !== undefined) await auditUser(input, userId, 'user.recovery_code_used', userId)
  const { session, headers } = await complete(input, link)
  return new Reply(200, { session, returnTo }, headers)
}

/** Signs in as another person, because the existing account belongs to somebody else. */
export async function decline(input: In<typeof identityLinks.decline>): Out<typeof identityLinks.decline> {
  const { db, now, audit } = input
  const link = await waitingLink(input)
  await deleteIdentityLink(db, link.browserHash)
  const userId = await makeUser(db, personOf(link), now, audit)
  const { answer, headers } = await startSession(input, userId, link)
  return new Reply(200, { ...answer, returnTo: link.returnTo }, headers)
}

type Request = Pick<
  In<typeof identityLinks.confirm>,
  'db' | 'context' | 'headers' | 'now' | 'origin' | 'audit' | 'enqueue'
>

/** Finds and locks the waiting sign-in of this browser, so that simultaneous answers run one after the other. */
async function waitingLink(
  input: Pick<Request, 'db' | 'context' | 'headers' | 'now' | 'origin'>,
): Promise<IdentityLink> {
  const { db, context, headers, now, origin } = input
  checkSameOrigin(context.config, headers)
  const token = readCookie(context.config, headers, 'skerry-identity')
  const link = token && (await lockIdentityLink(db, sha256(token), issuerOf(context), now))
  if (link) return link
  context.limiter.take('stranger', origin.ipAddress ?? '', origin)
  throw fail(
    'unauthorized',
    'this browser has no sign-in to confirm; sign in at your identity provider again, and open the mailed link in the same browser',
  )
}

async function confirmedLink(input: Parameters<typeof waitingLink>[0]): Promise<IdentityLink> {
  const link = await waitingLink(input)
  if (link.mailboxConfirmedAt === null) throw fail('conflict', 'open the mailed link first')
  return link
}

async function complete(input: Request, link: IdentityLink) {
  const { db, enqueue } = input
  await deleteIdentityLink(db, link.browserHash)
  await linkIdentity(input, link.userId, personOf(link))
  const { answer, headers } = await startSession(input, link.userId, link)
  await enqueue(linkedNotice, { to: link.email, issuer: link.issuer })
  return { session: answer.session, headers }
}

const personOf = ({ issuer, subject, email, name }: IdentityLink): Person => ({
  issuer,
  subject,
  email,
  verifiedEmail: email,
  name,
})
