import type { PgBoss } from 'pg-boss'
import type { Database } from '../db/database.ts'

/** How often a running job says that it is alive. Five missed are a killed server, or one that is as good as dead. */
export const beatSeconds = 1
const silentSeconds = 5
const lookMs = 2000

/**
 * Gives up jobs that died with their server, so that they are tried again as after any failure, and others of their key need
 * not wait. The library alone takes two minutes for that. Of the embedded database nobody else has a process: at its start
 * all that looks active was cut off.
 */
export async function giveUpCutOff(boss: PgBoss, db: Database, at: 'start' | 'later'): Promise<void> {
  const everything = db.engine === 'embedded'
  if (everything && at === 'later') return
  const found = await db.rows<{ name: string; ids: string[] }>(
    everything ? active : silent,
    everything ? [] : [silentSeconds],
  )
  for (const { name, ids } of found) await boss.fail(name, ids, { error: 'CutOff' })
}

/** Looks every two seconds, until the timer is cleared. */
export function lookForCutOff(
  boss: PgBoss,
  db: Database,
  warn: (error: unknown) => void,
  monotonicMs = () => performance.now(),
): NodeJS.Timeout {
  let lookedAtMs = monotonicMs()
  return setInterval(() => {
    const atMs = monotonicMs()
    const isLate = atMs - lookedAtMs > 2 * lookMs
    lookedAtMs = atMs
    // A process that stood still has not said either that its own jobs live: it says so before it looks.
    if (!isLate) giveUpCutOff(boss, db, 'later').catch(warn)
  }, lookMs)
}

const active = `select name, array_agg(id::text) as ids from jobs.job where state = 'active' group by name`

/** Asked often, so by the index of keys: what has none keeps nobody waiting. */
const silent = `
  select name, array_agg(id::text) as ids from jobs.job_common
   where state = 'active' and group_id is not null and heartbeat_on < jobs.job_now() - make_interval(secs => $1)
   group by name`
