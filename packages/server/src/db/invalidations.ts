import type { Sql } from './database.ts'
import { type Identity, identityColumn } from './identity.ts'

/** The cache that is invalidated: the resolve cache. */
interface Invalidated {
  readonly askedAtMs: number
  evict(orgId: string, environmentId: string | null): void
  clear(): void
  polled(atMs: number): void
}

const intervalMs = 200
/** After this long without a request, a process stops polling and clears its cache. */
const idleAfterMs = 30_000
/**
 * A process that was suspended for this long, for example with its machine, may have missed rows that are deleted by
 * now.
 */
const stoodStillMs = 60_000

interface InvalidationRow {
  horizon: string
  identity: string
  orgId: string | null
  environmentId: string | null
}

/**
 * Selects all invalidations of transactions that the previous poll could not see. Every transaction that was not
 * visible then has an id at or above the horizon of that poll, whatever the commit order. So no invalidation is missed.
 * While an old writer is open, some are read twice, which only costs a reload.
 */
const selectInvalidations = `
  select s.horizon, s.identity, c.org_id, c.environment_id
    from (select pg_snapshot_xmin(pg_current_snapshot())::text as horizon, ${identityColumn}) s
    left join (select distinct org_id, environment_id from cache_invalidations where xid >= $1::text::xid8) c on true`

/**
 * Keeps the caches of several servers on one database fresh. It reads the invalidations a few times a second while
 * requests come in. After a failed or late poll the cache does not answer. The clock limits staleness, so a connection
 * that died without notice cannot extend it.
 *
 * Rows that were missed during a failure may be deleted by then, so a failure clears the whole cache. If the database
 * is exchanged between two polls, no poll fails, but the new database may lack rows that make the cache stale. The
 * identity of the database shows the exchange, or a horizon that went back does.
 */
export function pollInvalidations(
  db: Sql,
  cache: Invalidated,
  identity: Identity,
  warn: (error: unknown) => void,
  monotonicMs: () => number,
): { stop: () => Promise<void> } {
  let horizon: string | null = null
  let timer: NodeJS.Timeout | undefined
  let stopped = false
  let current: Promise<void> = Promise.resolve()
  let failing = false
  let polledAtMs = monotonicMs()
  let generation = identity.generation()

  const noteSource = (seen: InvalidationRow) => {
    identity.note(seen.identity)
    if (horizon !== null && BigInt(seen.horizon) < BigInt(horizon)) identity.noteExchange()
  }
  const pollOnce = async () => {
    const startedAt = monotonicMs()
    if (startedAt - cache.askedAtMs > idleAfterMs) {
      if (horizon !== null) cache.clear()
      horizon = null
      return
    }
    if (startedAt - polledAtMs > stoodStillMs || identity.generation() !== generation) horizon = null
    const rows = await db.rows<InvalidationRow>(selectInvalidations, [horizon ?? '0'])
    const [seen] = rows
    if (seen !== undefined) noteSource(seen)
    if (horizon === null || identity.generation() !== generation) cache.clear()
    else for (const { orgId, environmentId } of rows) if (orgId !== null) cache.evict(orgId, environmentId)
    horizon = seen?.horizon ?? null
    generation = identity.generation()
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

/** No poll reads further back than this: a process that misses this much stopped answering long ago. */
const keptMinutes = 10

export const deleteOldInvalidations = (db: Sql) =>
  db.rows(`delete from cache_invalidations where at < now() - make_interval(mins => $1)`, [keptMinutes])
