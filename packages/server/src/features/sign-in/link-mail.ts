import { limits } from '@skerry/contract/limits'
import { type Context, instant, newSecret, sha256 } from '../../http/context.ts'
import { after } from '../../identity/sessions.ts'
import type { Mail, SendMail } from '../../jobs/mail.ts'
import type { Jobs } from '../../jobs/queue.ts'
import { insertLink, isWelcome } from './store.ts'

/**
 * Mails a link to whoever is a user or is invited. The token is made here, and not where it was asked for, so that it is in
 * the mail alone: what waits in the queue is in the database, where only its hash may be.
 */
export async function mailLink(
  context: Context,
  send: SendMail,
  { email, returnTo }: Jobs['sign_in.link'],
): Promise<void> {
  const { db, config } = context
  const now = instant(context)
  if (!(await isWelcome(db, email, now))) return
  const token = newSecret()
  await insertLink(db, { tokenHash: sha256(token), email, returnTo, expiresAt: after(now, limits.magicLinkTtlSeconds) })
  // After the mark, which browsers do not send: it reaches no log on the way.
  await send(linkMail(email, `${config.baseUrl}/sign-in/link#${token}`))
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
