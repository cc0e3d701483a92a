import type { Context } from '../../http/context.ts'
import { job } from '../../jobs/job.ts'
import { everyMinutes } from '../../jobs/schedule.ts'
import { instant } from '../../kernel/context.ts'
import { type ConfirmationRequest, linkedMail, mailConfirmation } from './mails.ts'
import { deleteExpired } from './store.ts'

/** Mails the link. Retried for less than the 15 minutes for which it works. After that, a retry sends nothing. */
export const confirmationMail = job<ConfirmationRequest, Context>(
  'identity_links.mail',
  { retry: { limit: 5 }, concurrency: 4 },
  mailConfirmation,
)

/** Notifies the person that a sign-in was linked. Retried for about half a day. */
export const linkedNotice = job<{ to: string; issuer: string }, Context>(
  'identity_links.notice',
  { retry: { limit: 12 }, concurrency: 2 },
  ({ mailer }, { to, issuer }) => mailer.send(linkedMail(to, issuer)),
)

export const jobs = [
  confirmationMail,
  linkedNotice,
  job('identity_links.sweep', { schedule: everyMinutes(5) }, (context) => deleteExpired(context.db, instant(context))),
]
