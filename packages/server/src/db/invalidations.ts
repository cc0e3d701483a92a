import type { Database, Sql } from './database.ts'

/** What is invalidated: the resolve cache. */
interface Invalidated {
  readonly askedAtMs: number
  evict(orgId: string, environmentId: string | null): void
  clear(): void
  polled(atMs: number): void
}

const intervalMs = 200
/** A process that nobody has asked anything for this long stops polling, and clears its cache. */
const idleAfterMs = 30_000
/** A process that stood still for this long, with its machine for example, may have missed more rows than are kept. */
const stoodStillMs = 60_000

interface InvalidationRow {
  horizon: string
  orgId: string | null
  environmentId: string | null
}

/**
 * All invalidations of transactions that the previous poll could not see. Every transaction that was not visible then has an
 * id at or above the horizon of that poll, whatever order they commit in, so nothing is missed; some invalidations are read
 * twice while an old writer is open, which only costs a reload.
 */
const selectInvalidations = `
  select s.horizon, c.org_id, c.environment_id
    from (select pg_snapshot_xmin(pg_current_snapshot())::text as horizon) s
    left join (select distinct org_id, environment_id from cache_invalidations where xid >= $1::text::xid8) c on true`

/**
 * Keeps the caches of several servers on one database fresh by reading invalidations a few times a second, while requests
 * come in. After a poll that fails or comes late the cache does not answer: staleness is bounded by the clock, not by trust
 * in a connection that may have died in silence. Rows that were missed meanwhile may be deleted by then, or the database may
 * be another one: after a failure the whole cache is cleared.
 */
export function pollInvalidations(
  db: Sql,
  cache: Invalidated,
  warn: (error: unknown) => void,
  monotonicMs: () => number,
): { stop: () => Promise<void> } {
  let horizon: string | null = null
  let timer: NodeJS.Timeout | undefined
  let stopped = false
  let current: Promise<void> = Promise.resolve()
  let failing = false
  let polledAtMs = monotonicMs()

  const pollOnce = async () => {
    const startedAt = monotonicMs()
    if (startedAt - cache.askedAtMs > idleAfterMs) {
      if (horizon !== null) cache.clear()
      horizon = null
      return
    }
    if (startedAt - polledAtMs > stoodStillMs) horizon = null
    const rows = await db.rows<InvalidationRow>(selectInvalidations, [horizon ?? '0'])
    if (horizon === null) cache.clear()
    else for (const { orgId, environmentId } of rows) if (orgId !== null) cache.evict(orgId, environmentId)
    horizon = rows[0]?.horizon ?? null
    polledAtMs = startedAt
    cache.polled(startedAt)
  }
  const loop = () => {
    current = pollOnce()
      .then(() => {
        failing = false
      })
      .catch((error) => {
        if (!failing) warn(error)
        failing = true
        horizon = null
      })
      .finally(() => {
        if (!stopped) timer = setTimeout(loop, intervalMs)
      })
  }
  loop()
  return {
    async stop() {
      stopped = true
      clearTimeout(timer)
      await current
    },
  }
}

/** No poll reads further back than this: a process that misses this much has long stopped answering. */
const keptMinutes = 10

export const deleteOldInvalidations = (db: Database) =>
  db.rows(`delete from cache_invalidations where at < now() - make_interval(mins => $1)`, [keptMinutes])
