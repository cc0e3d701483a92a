import type { PgBoss } from 'pg-boss'
import type { Context } from '../kernel/context.ts'
import { describe } from '../kernel/errors.ts'
import { beatSeconds } from './cut-off.ts'
import type { AnyJob } from './job.ts'

/** Those that run the jobs of one queue in this process. */
export interface Workers {
  /** Lets one that is idle look now. */
  wake(): void
}

/** Of all workers but the first, which are woken when there is something for them. */
const standbyPollSeconds = 60

/**
 * An idle queue costs one query per turn, however many jobs may run at once: the first worker asks, and a worker that gets a
 * job wakes another, which may find one too. A worker that has done a job asks again at once.
 */
export async function openWorkers(boss: PgBoss, job: AnyJob, context: Context): Promise<Workers> {
  const idle = new Set<string>()
  const wake = () => {
    const [id] = idle
    if (id !== undefined) boss.notifyWorker(id)
  }
  for (let number = 0; number < job.concurrency; number++) {
    let id: string | undefined
    id = await boss.work<never>(
      job.name,
      {
        pollingIntervalSeconds: number === 0 ? job.pollSeconds : standbyPollSeconds,
        perJobResults: true,
        ...(job.perKey && { groupConcurrency: 1, heartbeatRefreshSeconds: beatSeconds }),
      },
      async ([taken]) => {
        if (!taken) return []
        if (id !== undefined) idle.delete(id)
        wake()
        const result = await outcome(job, context, taken.data)
        if (id !== undefined) {
          idle.add(id)
          boss.notifyWorker(id)
        }
        return [{ id: taken.id, ...result }]
      },
    )
    idle.add(id)
  }
  return { wake }
}

/** What is logged and stored of a failure is what `describe` lets through: messages may quote what must not be there. */
async function outcome(job: AnyJob, context: Context, data: never) {
  try {
    await job.run(context, data)
    return { status: 'completed' as const }
  } catch (error) {
    const output = describe(error)
    context.faults.warn('job failed', error, { job: job.name })
    return { status: 'failed' as const, output }
  }
}
