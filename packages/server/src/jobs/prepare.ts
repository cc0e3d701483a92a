import type { PgBoss, QueueResult } from 'pg-boss'
import type { Database } from '../db/database.ts'
import type { AnyJob } from './job.ts'

/** Where what failed for good is kept until an operator has run it again or dropped it. */
export const deadLetters = 'dead_letters'

const daySeconds = 86_400
/** Ten years: until someone has looked at it. */
const keptSeconds = 3650 * daySeconds

/** Brings the queues of this database to what the rows say. Where nothing has changed it only reads. */
export async function prepareQueues(boss: PgBoss, db: Database, jobs: readonly AnyJob[]): Promise<void> {
  const stored = new Map((await boss.getQueues()).map((queue) => [queue.name, queue]))
  if (!stored.has(deadLetters)) await boss.createQueue(deadLetters, { retentionSeconds: keptSeconds })
  for (const job of jobs) {
    const settings = settingsOf(job)
    const queue = stored.get(job.name)
    if (queue && !differs(queue, settings)) continue
    if (!queue) await boss.createQueue(job.name)
    await boss.updateQueue(job.name, settings)
    await remember(boss, job.name)
  }
  await schedule(boss, jobs)
  await makeKeyIndex(db)
}

const settingsOf = ({ retry, deadLetter }: AnyJob) => ({
  retryLimit: retry.limit,
  retryDelay: retry.delaySeconds,
  retryDelayMax: retry.delayMaxSeconds,
  retryBackoff: true,
  deadLetter: deadLetter ? deadLetters : null,
  deleteAfterSeconds: daySeconds,
  // The library's own way to take up a job whose server was killed, within two minutes; cut-off.ts is sooner.
  heartbeatSeconds: 60,
})

const differs = (queue: QueueResult, settings: ReturnType<typeof settingsOf>): boolean =>
  Object.entries(settings).some(([name, value]) => (queue[name as keyof QueueResult] ?? null) !== value)

/**
 * The library looks up a queue that it has no memory of, on a connection of its own. Let it do so now, and not when a job is
 * put into a transaction, which has the only connection of the embedded database.
 */
const remember = (boss: PgBoss, name: string) => boss.findJobs(name, { id: '00000000-0000-0000-0000-000000000000' })

/** A schedule of a job that no longer exists would fill its queue for ever. */
async function schedule(boss: PgBoss, jobs: readonly AnyJob[]): Promise<void> {
  const stored = new Map((await boss.getSchedules()).map(({ name, cron }) => [name, cron]))
  const wanted = new Map(jobs.flatMap(({ name, cron }) => (cron === null ? [] : [[name, cron] as const])))
  for (const [name, cron] of wanted) if (stored.get(name) !== cron) await boss.schedule(name, cron, {}, { tz: 'UTC' })
  for (const name of stored.keys()) if (!wanted.has(name)) await boss.unschedule(name)
}

/**
 * Keeps two jobs of one key from running at once. The queue's own condition on groups is not enough for that: two servers
 * that look at the same time both see that none runs, and take one each. With the index the later one gets nothing, and
 * looks again.
 */
async function makeKeyIndex(db: Database): Promise<void> {
  const index = await db.row<{ found: boolean }>(`select to_regclass('jobs.one_active_per_key') is not null as found`)
  if (index?.found) return
  await db.transaction(async (tx) => {
    // `if not exists` alone is no protection from servers that start together.
    await tx.rows(`select pg_advisory_xact_lock(hashtext('jobs.one_active_per_key'))`)
    await tx.rows(
      `create unique index if not exists one_active_per_key on jobs.job_common (name, group_id)
        where state = 'active' and group_id is not null`,
    )
  })
}
