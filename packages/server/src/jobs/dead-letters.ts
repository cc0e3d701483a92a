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
  await boss.start()
  return {
    async list() {
      const jobs = await boss.findJobs<object>(deadLetters)
      return jobs.map(toDeadLetter).toSorted((one, other) => one.failedAt.localeCompare(other.failedAt))
    },
    retry: (ids) => boss.redrive(deadLetters, { ids, limit: ids.length }),
    async drop(ids) {
      const kept = new Set((await boss.findJobs(deadLetters)).map(({ id }) => id))
      await boss.deleteJob(deadLetters, ids)
      return ids.filter((id) => kept.has(id)).length
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
