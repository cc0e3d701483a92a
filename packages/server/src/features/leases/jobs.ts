import type { Context } from '../../http/context.ts'
import { type Job, job } from '../../jobs/job.ts'
import { everyMinutes } from '../../jobs/schedule.ts'
import { instant } from '../../kernel/context.ts'
import { endDue } from './ending.ts'
import { listDueTargets } from './ledger-store.ts'

/** How long an organization's next target waits where all processes that it may use are in use. */
const busySeconds = 2

type Data = { orgId: string; targetId: string }

/** Added with every lease, for the moment of its end; whichever comes first ends all that is due on its target. */
export const endTarget: Job<Data, Context> = job<Data, Context>(
  'leases.end',
  { concurrency: 4, perKey: ({ targetId }) => targetId, retry: { limit: 3, delaySeconds: 1 } },
  async (context, due) => {
    const isDone = await endDue(context, due.orgId, due.targetId)
    if (!isDone) await context.queue.enqueue(context.db, endTarget, due, { startAfterSeconds: busySeconds })
  },
)

/** Finds what a crash or an unreachable target has left, and the pauses that are over. */
export const jobs = [endTarget, job('leases.sweep', { schedule: everyMinutes(1) }, sweep)]

export async function sweep(context: Context): Promise<void> {
  for (const due of await listDueTargets(context.db, instant(context))) {
    await context.queue.enqueue(context.db, endTarget, due)
    context.queue.nudge(endTarget)
  }
}
