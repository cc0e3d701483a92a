import { limits } from '@skerry/contract/limits'
import type { Context } from '../../http/context.ts'
import { findSamePerson } from '../../identity/linking.ts'
import { after } from '../../identity/sessions.ts'
import type { Mail } from '../../jobs/mail.ts'
import { instant, newSecret, sha256 } from '../../kernel/context.ts'
import { personOfAddress } from './person.ts'
import { insertLink, isWelcome } from './store.ts'

/** Somebody asked for a link to this address. Whether anyone has the address is not known yet. */
export interface LinkRequest {
  email: string
  returnTo: string | null
}

/** Mails a link to an address that belongs to a user or is invited, and nothing to any other. */
export async function mailLink(context: Context, { email, returnTo }: LinkRequest): Promise<void> {
  const link = await makeLink(context, { email, returnTo, inviteId: null })
  if (link) await context.mailer.send(linkMail(email, link))
}

/** Mails an invitation with a link that signs in and accepts it. The link is left out if it could not work here. */
export async function mailInvitation(context: Context, inviteId: string, letter: Mail): Promise<void> {
  const { mailer } = context
  const wanted = { email: letter.to, returnTo: null, inviteId }
  const link = context.oidc || !context.serverKey ? null : await makeLink(context, wanted)
  if (!link) return mailer.send(letter)
  const words = 'This link signs you in and accepts the invitation, within 15 minutes. It works once:'
  const text = [letter.text, '', words, '', link].join('\n')
  await mailer.send({ ...letter, text })
}

/**
 * Returns null for an address that belongs to no user and has no invitation. The job that mails the token creates it,
 * not the request: the queue is in the database, which may contain only the hash of the token.
 */
async function makeLink(context: Context, wanted: LinkRequest & { inviteId: string | null }): Promise<string | null> {
  const { db, config } = context
  const now = instant(context)
  if (!(await isWelcome(db, wanted.email, now)) && !(await findSamePerson(db, personOfAddress(wanted.email))))
    return null
  const token = newSecret()
  await insertLink(db, { ...wanted, tokenHash: sha256(token), expiresAt: after(now, limits.magicLinkTtlSeconds) })
  // The token follows the `#`, which browsers do not send, so no log on the way contains it.
  return `${config.baseUrl}/sign-in/link#${token}`
}

const linkMail = (to: string, link: string): Mail => ({
  to,
  subject: 'Sign in to Skerry',
  text: [
    'Open this link within 15 minutes to sign in to Skerry:',
    '',
    link,
    '',
    'It works once. If you did not ask for it, do nothing.',
  ].join('\n'),
})
