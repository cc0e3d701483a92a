import type { JobWithMetadata } from 'pg-boss'
import type { Database } from '../db/database.ts'
import { deadLetters } from './prepare.ts'
import { openBoss } from './queue.ts'

/** A job that failed for good, as it is kept. */
export interface DeadLetter {
  id: string
  job: string
  /** When it was put into the queue first, and when it failed for the last time. */
  createdAt: string
  failedAt: string
  attempts: number
  /** What `describe` let through of the last failure. */
  error: Record<string, unknown>
  data: object
}

export interface DeadLetters {
  /** Oldest first. */
  list(): Promise<DeadLetter[]>
  /** Puts those back into their queues, to be tried as often as a new one -> how many there were. */
  retry(ids: string[]): Promise<number>
  /** -> how many there were. */
  drop(ids: string[]): Promise<number>
  close(): Promise<void>
}

/** For an operator, beside running servers or without: it takes no job, and changes no queue. */
export async function openDeadLetters(db: Database): Promise<DeadLetters> {
  const boss = openBoss(db, { supervise: false, schedule: false, migrate: false })
  const installed = await db.row<{ found: boolean }>(
    `select exists (select 1 from pg_tables where schemaname = 'jobs' and tablename = 'queue') as found`,
  )
  if (!installed?.found) throw new Error('No server has run on this database yet: it has no jobs.')
  await boss.start()
  return {
    async list() {
      const jobs = await boss.findJobs<object>(deadLetters)
      return jobs.map(toDeadLetter).toSorted((one, other) => one.failedAt.localeCompare(other.failedAt))
    },
    retry: async (ids) => (ids.length === 0 ? 0 : boss.redrive(deadLetters, { ids, limit: ids.length })),
    async drop(ids) {
      const dropped = await db.rows('delete from jobs.job where name = $1 and id = any($2::uuid[]) returning id', [
        deadLetters,
        ids,
      ])
      return dropped.length
    },
    close: () => boss.stop({ graceful: false, close: false }),
  }
}

const toDeadLetter = (job: JobWithMetadata<object>): DeadLetter => ({
  id: job.id,
  job: job.sourceName ?? deadLetters,
  createdAt: (job.sourceCreatedOn ?? job.createdOn).toISOString(),
  failedAt: job.createdOn.toISOString(),
  attempts: (job.sourceRetryCount ?? 0) + 1,
  error: (job.sourceOutput ?? {}) as Record<string, unknown>,
  data: job.data,
})
