import type { Context } from '../../http/context.ts'
import { type Job, job } from '../../jobs/job.ts'
import { everyMinutes } from '../../jobs/schedule.ts'
import { instant } from '../../kernel/context.ts'
import { endDue } from './ending.ts'
import { listDueTargets } from './ledger-store.ts'

/** Pause before the next target of an organization that already uses all the processes it may use. */
const busySeconds = 2

type Data = { orgId: string; targetId: string }

/** Queued with every lease for its expiry. The first job that runs ends all due leases of the target. */
export const endTarget: Job<Data, Context> = job<Data, Context>(
  'leases.end',
  { concurrency: 4, perKey: ({ targetId }) => targetId, retry: { limit: 3, delaySeconds: 1 } },
  async (context, due) => {
    const isDone = await endDue(context, due.orgId, due.targetId)
    if (!isDone) await context.queue.enqueue(context.db, endTarget, due, { startAfterSeconds: busySeconds })
  },
)

/** The sweep finds leases that a crash or an unreachable target left behind, and leases whose retry is due. */
export const jobs = [endTarget, job('leases.sweep', { schedule: everyMinutes(1) }, sweep)]

export async function sweep(context: Context): Promise<void> {
  for (const due of await listDueTargets(context.db, instant(context))) {
    await context.queue.enqueue(context.db, endTarget, due)
    context.queue.nudge(endTarget)
  }
}
