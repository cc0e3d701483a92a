import { job } from '../../jobs/job.ts'
import { instant } from '../../kernel/context.ts'
import { type ConfirmationRequest, mailConfirmation } from './mails.ts'
import { deleteExpired } from './store.ts'

/** Retried for less than the quarter of an hour for which the link works. */
export const confirmationMail = job<ConfirmationRequest>(
  'identity_links.mail',
  { retry: { limit: 5 }, deadLetter: false, concurrency: 4 },
  mailConfirmation,
)

export const jobs = [
  confirmationMail,
  job('identity_links.sweep', { cron: '*/5 * * * *' }, (context) => deleteExpired(context.db, instant(context))),
]
