import type { Context } from '../../http/context.ts'
import type { AnyJob } from '../../jobs/job.ts'
import { job } from '../../jobs/job.ts'
import { dailyAt } from '../../jobs/schedule.ts'
import { instant } from '../../kernel/context.ts'
import { takeReminders } from '../../model/secrets/details.ts'

export const jobs = [job('secrets.remind', { schedule: dailyAt('06:20') }, remind)]

/** Owners are reminded this long before a secret expires, and once more after it has expired. */
const aheadMs = 14 * 86_400_000

/** Few enough to keep the transaction short. */
const atOnce = 100

/** Reminds owners of secrets that expire. A secret without an owner is told to the admins. */
export async function remind(context: Context): Promise<void> {
  while ((await remindSome(context)) === atOnce);
}

async function remindSome(context: Context): Promise<number> {
  const now = instant(context)
  const soon = new Date(Date.parse(now) + aheadMs).toISOString()
  let told: AnyJob[] = []
  const count = await context.db.transaction(async (tx) => {
    told = []
    const reminders = await takeReminders(tx, { now, soon, limit: atOnce })
    for (const { orgId, name: secretName, ...facts } of reminders) {
      told.push(...(await context.events.emit(tx, 'secret.expiring', orgId, { ...facts, secretName })))
    }
    return reminders.length
  })
  for (const one of told) context.queue.nudge(one)
  return count
}
