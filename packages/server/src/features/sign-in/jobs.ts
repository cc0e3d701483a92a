import type { Context } from '../../http/context.ts'
import { job } from '../../jobs/job.ts'
import { everyMinutes } from '../../jobs/schedule.ts'
import { type LinkRequest, mailLink } from './link-mail.ts'
import { sweepSignIn } from './sweep.ts'

/** The retries of this job end within the 15 minutes for which a link is valid. */
export const signInLink = job<LinkRequest, Context>(
  'sign_in.link',
  { retry: { limit: 5 }, deadLetter: false, concurrency: 4 },
  mailLink,
)

export const jobs = [signInLink, job('sign_in.sweep', { schedule: everyMinutes(5) }, sweepSignIn)]
