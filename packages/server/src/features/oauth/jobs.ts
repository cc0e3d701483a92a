import type { Context } from '../../http/context.ts'
import { deleteExpiredAccessTokens } from '../../identity/store.ts'
import { job } from '../../jobs/job.ts'
import { everyMinutes } from '../../jobs/schedule.ts'
import { instant } from '../../kernel/context.ts'

export const jobs = [job('access_tokens.sweep', { schedule: everyMinutes(5) }, sweepAccessTokens)]

export async function sweepAccessTokens(context: Context): Promise<void> {
  await deleteExpiredAccessTokens(context.db, instant(context))
}
