import type pg from 'pg'
import { type Identity, identityColumn } from './identity.ts'
import { unansweredSince } from './postgres-session.ts'

/**
 * Watches the connections of all pools. A connection may die without notice, after a power cut or because an address
 * moved, and TCP notices that after minutes. While an answer is late, a new connection checks whether the database
 * still works on it.
 */
export interface Watch {
  /** Applies the settings of a new session, and records which database it leads to. */
  admit(client: pg.ClientBase, settings: string, limitMs: number): Promise<void>
  /** True if the connection leads to a database that was replaced. */
  isOutdated(client: pg.ClientBase): boolean
  /** Watches the connections of a pool. */
  follow(pool: pg.Pool): void
  stop(): Promise<void>
}

export interface WatchOptions {
  /** Opens a connection outside the pools. */
  connect: () => pg.Client
  identity: Identity
  /** After this long without an answer, a new connection checks the database. */
  silentMs: number
  /**
   * How often a new connection checks the database when all answers arrive in time. A replaced database may go on
   * answering.
   */
  lookEveryMs: number
  /** Timeout for the answer to such a check. */
  limitMs: number
}

interface Link {
  generation: number
  /** The id of the PostgreSQL process that serves the connection; null behind a connection pooler, which hides it. */
  pid: number | null
}

const selectSession = `select pg_backend_pid() as pid, ${identityColumn}`

/** The answer of a process that became idle within the last second may still be under way. */
const selectLook = `
  select ${identityColumn},
         array(select pid from pg_stat_activity
                where pid = any($1::int[])
                  and (state is null or state not like 'idle%'
                       or state_change > clock_timestamp() - interval '1 second')) as working`

export function watchConnections({ connect, identity, silentMs, lookEveryMs, limitMs }: WatchOptions): Watch {
  const links = new Map<pg.ClientBase, Link>()
  const lent = new Set<pg.ClientBase>()
  const isOutdated = (client: pg.ClientBase) => links.get(client)?.generation !== identity.generation()
  const silent = () => {
    const now = performance.now()
    return [...links.keys()].filter((client) => now - (unansweredSince(client) ?? now) >= silentMs)
  }
  const look = async () => {
    const waiting = silent().map((client) => ({ client, bytes: streamOf(client).bytesRead }))
    const pids = waiting.flatMap(({ client }) => links.get(client)?.pid ?? [])
    probe = connect()
    const working = await askAnew(probe, identity, pids, limitMs)
    const stillSilent = new Set(silent())
    for (const { client, bytes } of waiting) {
      const pid = links.get(client)?.pid ?? null
      const isAtWork = !isOutdated(client) && (pid === null || working.has(pid))
      if (isAtWork || !stillSilent.has(client) || streamOf(client).bytesRead !== bytes) continue
      closeNow(client, 'Connection terminated: it was silent, and a new connection is answered')
    }
  }
  // The replaced database may wait for these connections before it shuts down. A lent connection is closed when it
  // comes back: the pool lends the latest one first, so this one might never be checked again.
  identity.onExchange(() => {
    for (const client of links.keys()) if (!lent.has(client)) closeNow(client)
  })
  let probe: pg.Client | undefined
  let looking: Promise<void> | undefined
  let lookedAtMs = performance.now()
  const timer = setInterval(() => {
    const sinceMs = performance.now() - lookedAtMs
    if (looking || links.size === 0) return
    if (sinceMs < lookEveryMs && (sinceMs < silentMs || silent().length === 0)) return
    looking = look()
      // If the new connection fails, nothing is known about the existing ones, so they stay open.
      .catch(() => {})
      .finally(() => {
        looking = undefined
        lookedAtMs = performance.now()
      })
  }, Math.min(silentMs, lookEveryMs) / 4).unref()
  return {
    async admit(client, settings, limitMs) {
      const query: pg.QueryConfig & { query_timeout: number } = {
        text: `${settings}; ${selectSession}`,
        query_timeout: limitMs,
      }
      // Several statements return several results, which the types of the driver do not express.
      const results = (await client.query(query)) as unknown as pg.QueryResult<{ pid: number; identity: string }>[]
      const session = results.at(-1)?.rows[0]
      if (session === undefined) throw new Error('Connection terminated: the session did not say where it is')
      identity.note(session.identity)
      const isDirect = session.pid === (client as unknown as { processID: number }).processID
      links.set(client, { generation: identity.generation(), pid: isDirect ? session.pid : null })
    },
    isOutdated,
    follow(pool) {
      pool.on('acquire', (client) => void lent.add(client))
      pool.on('release', (_, client) => {
        lent.delete(client)
        if (isOutdated(client)) closeNow(client)
      })
      pool.on('remove', (client) => void links.delete(client))
    },
    async stop() {
      clearInterval(timer)
      if (looking === undefined || probe === undefined) return
      closeNow(probe)
      await looking
    },
  }
}

/**
 * Asks over a new connection which database answers and which of these processes work -> the ids of those processes.
 */
async function askAnew(client: pg.Client, identity: Identity, pids: number[], limitMs: number): Promise<Set<number>> {
  client.on('error', () => {})
  try {
    await client.connect()
    const query: pg.QueryConfig & { query_timeout: number } = {
      text: selectLook,
      values: [pids],
      query_timeout: limitMs,
    }
    const { rows } = await client.query<{ identity: string; working: number[] }>(query)
    const [seen] = rows
    if (seen === undefined) throw new Error('Connection terminated: no row')
    identity.note(seen.identity)
    return new Set(seen.working)
  } finally {
    closeNow(client)
  }
}

/** Closes the socket without PostgreSQL's goodbye message, because the server may be gone. */
export function closeNow(client: pg.ClientBase, reason?: string): void {
  streamOf(client).destroy(reason === undefined ? undefined : new Error(reason))
}

/** The driver does not expose its socket. */
const streamOf = (client: pg.ClientBase) =>
  (client as unknown as { connection: { stream: { bytesRead: number; destroy(error?: Error): void } } }).connection
    .stream
