import type { Context } from '../../../http/context.ts'
import { job } from '../../../jobs/job.ts'
import { dailyAt } from '../../../jobs/schedule.ts'
import { instant } from '../../../kernel/context.ts'
import { deleteOld } from './store.ts'

const keptDays = 30

export const jobs = [job('vault.sweep', { schedule: dailyAt('03:23') }, sweep)]

function sweep(context: Context): Promise<void> {
  const monthAgo = new Date(context.now().getTime() - keptDays * 86_400_000).toISOString()
  return context.db.transaction((tx) => deleteOld(tx, { now: instant(context), monthAgo }))
}
