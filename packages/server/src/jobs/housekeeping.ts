import { deleteOldInvalidations } from '../db/invalidations.ts'
import { deleteExpiredAccessTokens } from '../identity/store.ts'
import { type Context, instant } from '../kernel/context.ts'
import { job } from './job.ts'
import { maintain } from './maintain.ts'

/** What belongs to no feature. */
export const jobs = [
  job('invalidations.sweep', { cron: '*/5 * * * *' }, ({ db }) => deleteOldInvalidations(db)),
  job('access_tokens.sweep', { cron: '*/5 * * * *' }, sweepAccessTokens),
  job('maintain', { cron: '*/15 * * * *' }, maintain),
]

export async function sweepAccessTokens(context: Context): Promise<void> {
  await deleteExpiredAccessTokens(context.db, instant(context))
}
