import type { Database } from '../src/db/database.ts'
import type { AnyJob } from '../src/jobs/job.ts'
import { slotAt, slotId } from '../src/jobs/schedule.ts'
import { until } from './until.ts'

const minuteMs = 60_000
/** Longer than any suite. */
const aheadMinutes = 180

/**
 * Stops the schedules of these jobs on every server of this database, and waits until none of them waits or runs. It
 * stores the jobs of the coming periods as completed.
 */
export async function stopScheduled(db: Database, jobs: readonly AnyJob[]): Promise<void> {
  const scheduled = jobs.filter(({ schedule }) => schedule !== null)
  const names = scheduled.map(({ name }) => name)
  const rows = scheduled.flatMap(({ name, schedule }) => {
    if (!schedule) return []
    const nowMs = Date.now()
    const first = slotAt(schedule, nowMs)
    const last = slotAt(schedule, nowMs + aheadMinutes * minuteMs)
    return Array.from({ length: last - first + 1 }, (_, index) => ({ name, id: slotId(name, first + index) }))
  })
  await db.rows(
    `insert into jobs (id, name, data, state, due_at, ended_at)
     select id, name, '{}', 'completed', now(), now() from unnest($1::uuid[], $2::text[]) as run(id, name)
     on conflict do nothing`,
    [rows.map(({ id }) => id), rows.map(({ name }) => name)],
  )
  await until('scheduled jobs are over', async () => {
    await db.rows(`delete from jobs where name = any($1) and state = 'waiting'`, [names])
    return (await db.row(`select 1 from jobs where name = any($1) and state = 'active'`, [names])) === undefined
  })
}
