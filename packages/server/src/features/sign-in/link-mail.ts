import { limits } from '@skerry/contract/limits'
import type { Context } from '../../http/context.ts'
import { findSamePerson } from '../../identity/linking.ts'
import { after } from '../../identity/sessions.ts'
import type { Mail } from '../../jobs/mail.ts'
import { instant, newSecret, sha256 } from '../../kernel/context.ts'
import { personOfAddress } from './person.ts'
import { insertInvitationLink, insertLink, isWelcome } from './store.ts'

/** Somebody asked for a link to this address. Whether anyone has the address is not known yet. */
export interface LinkRequest {
  email: string
  returnTo: string | null
}

/** Mails a link to an address that belongs to a user or is invited, and nothing to any other. */
export async function mailLink(context: Context, { email, returnTo }: LinkRequest): Promise<void> {
  const { db, mailer } = context
  const now = instant(context)
  if (!(await isWelcome(db, email, now)) && !(await findSamePerson(db, personOfAddress(email)))) return
  const token = newSecret()
  const expiresAt = after(now, limits.magicLinkTtlSeconds)
  await insertLink(db, { email, returnTo, tokenHash: sha256(token), expiresAt })
  await mailer.send(linkMail(email, urlOf(context, token)))
}

/** Mails an invitation with a link that signs in and accepts it. The link is left out if it could not work here. */
export async function mailInvitation(context: Context, inviteId: string, letter: Mail): Promise<void> {
  const { mailer } = context
  const link = context.oidc || !context.serverKey ? null : await makeInvitationLink(context, inviteId, letter.to)
  if (!link) return mailer.send(letter)
  const text = [letter.text, '', ...linkWords(link.hasCode), '', urlOf(context, link.token)].join('\n')
  await mailer.send({ ...letter, text })
}

const linkWords = (hasCode: boolean) => [
  hasCode
    ? 'This link signs you in and accepts the invitation without the joining code. Use it only if you cannot use the code.'
    : 'This link signs you in and accepts the invitation.',
  'It works once, until the invitation expires.',
  'If you already have an account here, use it within 15 minutes, or sign in first:',
]

/**
 * Returns null if the invitation is over. The job that mails the token creates it, not the request: the queue is in the
 * database, which may contain only the hash of the token.
 */
async function makeInvitationLink(context: Context, inviteId: string, email: string) {
  const now = instant(context)
  const token = newSecret()
  const accountUntil = after(now, limits.magicLinkTtlSeconds)
  const link = { tokenHash: sha256(token), inviteId, email, accountUntil, now }
  const inserted = await insertInvitationLink(context.db, link)
  return inserted ? { token, ...inserted } : null
}

/** The token follows the `#`, which browsers do not send, so no log on the way contains it. */
const urlOf = ({ config }: Context, token: string) => `${config.baseUrl}/sign-in/link#${token}`

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
