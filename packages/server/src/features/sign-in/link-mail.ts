import { limits } from '@skerry/contract/limits'
import type { Context } from '../../http/context.ts'
import { findSamePerson } from '../../identity/linking.ts'
import { after } from '../../identity/sessions.ts'
import type { Mail } from '../../jobs/mail.ts'
import { instant, newSecret, sha256 } from '../../kernel/context.ts'
import { personOfAddress } from './person.ts'
import { insertLink, isWelcome } from './store.ts'

/** Someone asked for a link to this address; whether anyone has it is not known yet. */
export interface LinkRequest {
  email: string
  returnTo: string | null
}

/** Mails a link to an address that belongs to a user or is invited, and nothing to any other. */
export async function mailLink(context: Context, { email, returnTo }: LinkRequest): Promise<void> {
  const link = await makeLink(context, { email, returnTo, inviteId: null })
  if (link) await context.mailer.send(linkMail(email, link))
}

/** An invitation with a link at its end that takes it, so that nobody need ask for one; without where none would work. */
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
 * Null for an address of nobody who is here or invited. The token is made by the job that mails it, and not where it was
 * asked for, so that it is in the mail alone: what waits in the queue is in the database, where only its hash may be.
 */
async function makeLink(context: Context, wanted: LinkRequest & { inviteId: string | null }): Promise<string | null> {
  const { db, config } = context
  const now = instant(context)
  if (!(await isWelcome(db, wanted.email, now)) && !(await findSamePerson(db, personOfAddress(wanted.email))))
    return null
  const token = newSecret()
  await insertLink(db, { ...wanted, tokenHash: sha256(token), expiresAt: after(now, limits.magicLinkTtlSeconds) })
  // After the mark, which browsers do not send: it reaches no log on the way.
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
