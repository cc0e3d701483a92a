import { limits } from '@skerry/contract/limits'
import type { Context } from '../../http/context.ts'
import { job } from '../../jobs/job.ts'
import { hourlyAt } from '../../jobs/schedule.ts'
import { deleteActivity } from './activity-store.ts'

export const jobs = [job('agents.sweep_activity', { schedule: hourlyAt(17) }, sweepActivity)]

/** A batch is small, so that no statement takes long. */
const atOnce = 5000

/** Deletes activity that is too old for any view. */
export async function sweepActivity(context: Context): Promise<void> {
  const before = new Date(context.now().getTime() - (limits.activityDaysMax * 86_400_000 + 3_600_000)).toISOString()
  while ((await deleteActivity(context.db, before, atOnce)) === atOnce);
}
