import type { Context } from '../../http/context.ts'
import { job } from '../../jobs/job.ts'
import { everyMinutes } from '../../jobs/schedule.ts'
import { instant } from '../../kernel/context.ts'
import { deleteEndedRequests } from './store.ts'

export const jobs = [job('cli_logins.sweep', { schedule: everyMinutes(5) }, sweepCliLogins)]

/** A device that polls late still learns that its request has ended. */
const keptSeconds = 3600

/** Deletes requests that have ended, decided or not. Sessions stay. */
export async function sweepCliLogins(context: Context): Promise<void> {
  const before = new Date(Date.parse(instant(context)) - keptSeconds * 1000).toISOString()
  await deleteEndedRequests(context.db, before)
}
