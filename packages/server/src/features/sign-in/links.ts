import type { signIn } from '@skerry/contract/sign-in/endpoints'
import { type In, type Out, Reply } from '../../http/route.ts'
import { findSamePerson, linkIdentity } from '../../identity/linking.ts'
import { needServerKey, startSession } from '../../identity/sessions.ts'
import { returnAttempt, takeAttempt } from '../../identity/throttle.ts'
import { makeUser } from '../../identity/users.ts'
import { sha256 } from '../../kernel/context.ts'
import { fail, refuseAndCommit } from '../../kernel/errors.ts'
import { linkedNotice } from '../identity-links/jobs.ts'
import { acceptInvite } from '../members/own-invites.ts'
import { signInLink } from './jobs.ts'
import { needBuiltIn, personOfAddress } from './person.ts'
import { findInvitation, hasSecondFactor, isNamed, isWelcome, takeLink } from './store.ts'

/**
 * This does not look up whether anyone has the address. It writes the same row and sends the same answer for every
 * address. A job finds out whether there is someone to write to (link-mail.ts).
 */
export async function request(input: In<typeof signIn.requestLink>): Out<typeof signIn.requestLink> {
  const { db, context, body, now, enqueue } = input
  needBuiltIn(context)
  needServerKey(context)
  const email = body.email.toLowerCase()
  await takeAttempt(db, 'mailbox', email, now)
  await enqueue(signInLink, { email, returnTo: body.returnTo ?? null })
  return { ok: true }
}

/** Joins nothing. A wrong or expired link gets the same answer as one that came with no invitation. */
export async function showInvitation(input: In<typeof signIn.showInvitation>): Out<typeof signIn.showInvitation> {
  const { db, context, body, now } = input
  needBuiltIn(context)
  const invitation = await findInvitation(db, sha256(body.token), now)
  if (!invitation) throw fail('unauthorized', 'this link has expired or was replaced; ask for a new one')
  return { invitation }
}

/** A wrong, used or expired link gets the same message as the link of a person who has been removed since. */
export async function redeem(input: In<typeof signIn.redeemLink>): Out<typeof signIn.redeemLink> {
  const { db, context, body, now, audit, origin, enqueue } = input
  needBuiltIn(context)
  needServerKey(context)
  const caller = origin.ipAddress ?? ''
  await takeAttempt(db, 'sign_in', caller, now)
  const link = await takeLink(db, sha256(body.token), now)
  const person = link && personOfAddress(link.email)
  const samePersonId = person && (await findSamePerson(db, person))
  if (!link || !person || !(samePersonId || (await isWelcome(db, link.email, now))))
    return refuseAndCommit('unauthorized', 'this link has expired or was already used; ask for a new one')
  returnAttempt(db, 'sign_in', caller)
  // After a change from an issuer to the built-in sign-in, the mailed link proves the address.
  if (samePersonId) {
    await linkIdentity(input, samePersonId, person)
    await enqueue(linkedNotice, { to: link.email, issuer: person.issuer })
  }
  const name = (await isNamed(db, person.subject)) ? null : (body.name ?? null)
  const userId = samePersonId ?? (await makeUser(db, { ...person, name }, now, audit))
  // If a mailbox alone does not sign the person in, it does not let them join either, so the invitation waits.
  if (link.inviteId && !(await hasSecondFactor(db, userId))) await acceptInvite(input, userId, link.inviteId)
  const { answer, headers } = await startSession(input, userId, { mfaAt: null, issuerSecondFactor: null })
  return new Reply(200, { ...answer, returnTo: link.returnTo }, headers)
}
