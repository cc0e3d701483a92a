import { randomUUID } from 'node:crypto'
import type { Database, Sql, Tx } from '../db/database.ts'
import type { AnyJob, Job } from './job.ts'
import { openRunner, type Runner, type RunnerContext } from './runner.ts'
import { deleteWaiting, failActive, insertJob } from './store.ts'

export interface Sending {
  /** A uuid. A job whose id already exists is not added again. */
  id?: string
  /** An urgent job runs before all waiting jobs of the same name. */
  urgent?: boolean
  startAfterSeconds?: number
}

export interface Queue {
  /** Adds a job in the transaction of `db`. If that commits, some server runs the job. */
  enqueue<Data extends object>(db: Sql, job: Job<Data, never>, data: NoInfer<Data>, sending?: Sending): Promise<void>
  /**
   * Removes the waiting jobs with the same key from the queue and returns their data, oldest first. So the running job
   * can do the work of all. A job that is added meanwhile stays in the queue.
   */
  takeWaiting<Data extends object>(tx: Tx, job: Job<Data, never>, like: NoInfer<Data>): Promise<Data[]>
  /** Makes this server look for a job now, without waiting for the next poll. Call it after the commit. */
  nudge(job: AnyJob): void
  stop(): Promise<void>
}

/** A queue with its `start` function. Features get only a `Queue`, which adds jobs. */
export interface OwnQueue<Context> extends Queue {
  start(context: Context): Promise<void>
}

/** The queue of one server. Its table is the only state, so any number of servers work on it (ADR 11). */
export function openQueue<Context extends RunnerContext>(
  db: Database,
  jobs: readonly Job<never, Context>[],
): OwnQueue<Context> {
  let runner: Runner | undefined
  return {
    async enqueue(tx, job, data, { id, urgent, startAfterSeconds } = {}) {
      await insertJob(tx, {
        id: id ?? randomUUID(),
        name: job.name,
        data,
        key: job.perKey?.(data) ?? null,
        isUrgent: urgent ?? false,
        delaySeconds: startAfterSeconds ?? 0,
      })
    },
    takeWaiting: (tx, job, like) => deleteWaiting<typeof like>(tx, job.name, job.perKey?.(like) ?? null),
    nudge: ({ name }) => runner?.look([name]),
    async start(context) {
      // On the embedded database, every job that is active at the start was interrupted, because no other process uses
      // that database.
      if (db.engine === 'embedded') await failActive(db, jobs)
      runner = openRunner(context, jobs)
    },
    async stop() {
      await runner?.stop()
      runner = undefined
    },
  }
}
