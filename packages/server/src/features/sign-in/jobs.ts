import type { Context } from '../../http/context.ts'
import { job } from '../../jobs/job.ts'
import { everyMinutes } from '../../jobs/schedule.ts'
import { type LinkRequest, mailLink } from './link-mail.ts'
import { sweepSignIn } from './sweep.ts'

/**
 * The retries of this job end within the 15 minutes for which a link is valid. The link is made when the job runs, so a
 * failed job that is kept for the operator contains none.
 */
export const signInLink = job<LinkRequest, Context>('sign_in.link', { retry: { limit: 5 }, concurrency: 4 }, mailLink)

export const jobs = [signInLink, job('sign_in.sweep', { schedule: everyMinutes(5) }, sweepSignIn)]
