import { job } from '../../jobs/job.ts'
import { everyMinutes } from '../../jobs/schedule.ts'
import { instant } from '../../kernel/context.ts'
import { type ConfirmationRequest, linkedMail, mailConfirmation } from './mails.ts'
import { deleteExpired } from './store.ts'

/** Retried for less than the quarter of an hour for which the link works. */
export const confirmationMail = job<ConfirmationRequest>(
  'identity_links.mail',
  { retry: { limit: 5 }, deadLetter: false, concurrency: 4 },
  mailConfirmation,
)

/** Tells the person that a sign-in was linked. Tried for about half a day. */
export const linkedNotice = job<{ to: string; issuer: string }>(
  'identity_links.notice',
  { retry: { limit: 12 }, concurrency: 2 },
  ({ mailer }, { to, issuer }) => mailer.send(linkedMail(to, issuer)),
)

export const jobs = [
  confirmationMail,
  linkedNotice,
  job('identity_links.sweep', { schedule: everyMinutes(5) }, (context) => deleteExpired(context.db, instant(context))),
]
