import { limits } from '@skerry/contract/limits'
import type { Context } from '../../http/context.ts'
import { ownIssuer } from '../../identity/session-tokens.ts'
import { after } from '../../identity/sessions.ts'
import type { Mail } from '../../jobs/mail.ts'
import { instant, newSecret, sha256 } from '../../kernel/context.ts'
import { identityLinkPage } from './begin.ts'
import { setMailHash } from './store.ts'

/** A browser asked for a confirmation. Its hash names the waiting sign-in and opens nothing. */
export interface ConfirmationRequest {
  browserHash: string
}

/** The job makes the token, so that the token is in the mail alone and never in the queue. */
export async function mailConfirmation(context: Context, { browserHash }: ConfirmationRequest): Promise<void> {
  const now = instant(context)
  const token = newSecret()
  const mail = { hash: sha256(token), expiresAt: after(now, limits.magicLinkTtlSeconds) }
  const link = await setMailHash(context.db, browserHash, mail, now)
  if (!link) return
  await context.mailer.send({
    to: link.email,
    subject: 'Confirm your new sign-in to Skerry',
    text: [
      // The name of the issuer's account is left out: its owner chooses it, and it may contain a link.
      `Somebody signed in at ${link.issuer} with your address ${link.email}.`,
      'To use that sign-in for your existing Skerry account, open this link within 15 minutes:',
      '',
      // The token is in the fragment (#), which browsers do not send, so it reaches no log on the way.
      `${context.config.baseUrl}${identityLinkPage}#${token}`,
      '',
      'Open it in the same browser in which you signed in. It works once.',
      'If this was not you, do nothing: without the link, nothing changes.',
    ].join('\n'),
  })
}

/** Notifies the person afterwards, because somebody else may have used the browser. */
export const linkedMail = (to: string, issuer: string): Mail => ({
  to,
  subject: 'Your Skerry account has a new sign-in',
  text: [
    `You now sign in to Skerry ${issuer === ownIssuer ? 'with a link to this address' : `at ${issuer}`}. Your memberships and keys are the same as before.`,
    '',
    'If you did not do this, tell the operator of your Skerry server at once.',
  ].join('\n'),
})
