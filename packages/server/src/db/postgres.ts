import pg from 'pg'
import { createGuard, type Guard, retried } from './attempts.ts'
import type { Database, Sql, Tx } from './database.ts'
import { cancelOnAbort, readNameOf } from './postgres-reads.ts'
import { type Answer, foreignRows, send } from './postgres-session.ts'
import { type Lent, openPostgresSnapshot } from './postgres-snapshot.ts'
import { beginLazily } from './postgres-transaction.ts'
import { bindAll, toRows } from './rows.ts'
import { isConnectionError, isReadOnly, isStalePlan } from './sql-errors.ts'

export interface PostgresOptions {
  /** Connections for ordinary work. Batches, heavy reads, the watch and look-ups have others. */
  poolSize?: number
  /** Connections for heavy reads. */
  readsSize?: number
  connectTimeoutMs?: number
  statementTimeoutMs?: number
  /** For one statement of a heavy read, default 5,000. */
  readTimeoutMs?: number
  /** Hears of connections that broke while idle. The next call simply opens another. */
  onIdleError?: (error: Error) => void
}

interface Pool {
  pg: pg.Pool
  /** For one answer, if the server falls silent. */
  limitMs: number
  guard: Guard
}

/** Heavy reads are rare, so their connections are closed after a minute without one. */
const readsIdleMs = 60_000

/** Opens no connection yet; the first statement does, so a database that is down shows there, call by call. */
export function openPostgres(url: string, options: PostgresOptions = {}): Database {
  const connectTimeoutMs = options.connectTimeoutMs ?? 5000
  const statementTimeoutMs = options.statementTimeoutMs ?? 30_000
  const guard = createGuard()
  const pools: pg.Pool[] = []
  const poolOf = (size: number, more: { timeoutMs?: number; idleMs?: number; isForReads?: boolean } = {}): Pool => {
    const { timeoutMs = statementTimeoutMs, idleMs = 0, isForReads = false } = more
    const pool = createPool(url, size, connectTimeoutMs, idleMs, (client) => ({
      statement_timeout: timeoutMs,
      // One read, one process of PostgreSQL: parallel workers would come on top of its places.
      ...(isForReads && { application_name: readNameOf(client), max_parallel_workers_per_gather: 0 }),
    }))
    // Without a listener, a connection that breaks while idle would end the process.
    pool.on('error', (error) => options.onIdleError?.(error))
    pools.push(pool)
    return { pg: pool, limitMs: timeoutMs + connectTimeoutMs, guard }
  }
  const pool = poolOf(options.poolSize ?? 10)
  const batches = sqlOf(poolOf(1))
  const watch = sqlOf(poolOf(1))
  const spare = sqlOf(poolOf(1))
  const reads = poolOf(options.readsSize ?? 2, {
    timeoutMs: options.readTimeoutMs ?? 5000,
    idleMs: readsIdleMs,
    isForReads: true,
  })
  const ordinary = sqlOf(pool)

  let closing: Promise<unknown> | undefined
  return {
    engine: 'postgres',
    ...ordinary,
    batches,
    watch,
    get lookups() {
      return isFull(pool.pg) ? spare : ordinary
    },
    reads: (signal) => sqlOf(reads, (client) => cancelOnAbort(client, watch, signal)),
    transaction: (work) => retried(() => borrowed(pool, (client, spoil) => attempt(pool, client, spoil, work))),
    script: (text) => loose(pool, async (client) => void (await client.query(text))),
    openSnapshot: async (choose, signal) => {
      const lent = await lend(reads)
      const stop = signal && cancelOnAbort(lent.client, watch, signal)
      const release = (spoilt: boolean) => lent.release(stop?.().cancelled || spoilt)
      return await openPostgresSnapshot({ ...lent, release }, statementTimeoutMs, choose)
    },
    close: async () => {
      closing ??= Promise.all(pools.map((one) => one.end()))
      await closing
    },
  }
}

/** Whether the next statement would have to wait for a connection. */
const isFull = ({ idleCount, totalCount, options }: pg.Pool): boolean => idleCount === 0 && totalCount >= options.max

/** @param watched begins to watch over a statement of this connection, and gives what ends that */
function sqlOf(pool: Pool, watched?: (client: pg.ClientBase) => () => { cancelled: boolean }): Sql {
  const rows: Sql['rows'] = (text, values) => outsideRows(pool, text, values, watched)
  return {
    rows,
    row: async <Row>(text: string, values?: readonly unknown[]) => (await rows<Row>(text, values))[0],
    foreign: (text, values) => loose(pool, (client) => foreignRows(client, text, values, pool.limitMs)),
  }
}

function createPool(
  url: string,
  size: number,
  connectTimeoutMs: number,
  idleMs: number,
  settingsOf: (client: pg.ClientBase) => Record<string, string | number>,
): pg.Pool {
  return new pg.Pool({
    connectionString: url,
    max: size,
    connectionTimeoutMillis: connectTimeoutMs,
    keepAlive: true,
    keepAliveInitialDelayMillis: 10_000,
    // Otherwise connections stay open: a timer per statement, to close idle ones, would cost more than they do.
    idleTimeoutMillis: idleMs,
    maxLifetimeSeconds: 3600,
    application_name: 'skerry',
    onConnect: (client) => configureSession(client, connectTimeoutMs, settingsOf(client)),
  })
}

/**
 * The parsers rely on the first three, however role and database are configured. No statement of the server is meant to
 * take as long as the timeouts; one that does would hold its connection and its locks.
 */
async function configureSession(
  client: pg.ClientBase,
  limitMs: number,
  more: Record<string, string | number>,
): Promise<void> {
  const settings = {
    timezone: 'UTC',
    datestyle: 'ISO',
    bytea_output: 'hex',
    idle_in_transaction_session_timeout: 60_000,
    ...more,
  }
  const text = Object.entries(settings).map(([name, value]) => `SET ${name} = '${value}'`)
  const query: pg.QueryConfig & { query_timeout: number } = { text: text.join('; '), query_timeout: limitMs }
  await client.query(query)
}

async function outsideRows<Row>(
  pool: Pool,
  text: string,
  values?: readonly unknown[],
  watched?: (client: pg.ClientBase) => () => { cancelled: boolean },
): Promise<Row[]> {
  const bound = bindAll(values)
  // After any of these failures the statement has left nothing.
  return await retried(async () => {
    const answer = await borrowed(pool, async (client, spoil) => {
      const stop = watched?.(client)
      try {
        return await new Promise<Answer>((resolve, reject) => {
          send(client, [{ text, values: bound, resolve, reject }], pool.limitMs)
        })
      } finally {
        if (stop?.().cancelled) spoil()
      }
    })
    return toRows<Row>(answer)
  })
}

/** Unlike pool.query, which drops its connection after any SQL error, a unique violation for instance. */
async function borrowed<T>(pool: Pool, use: (client: pg.PoolClient, spoil: () => void) => Promise<T>): Promise<T> {
  pool.guard.checkOutside()
  const client = await pool.pg.connect()
  let spoilt = false
  const spoil = () => {
    spoilt = true
  }
  client.on('error', spoil)
  try {
    return await use(client, spoil)
  } catch (error) {
    if (spoilsConnection(error)) spoil()
    throw error
  } finally {
    client.off('error', spoil)
    client.release(spoilt)
  }
}

async function lend({ pg, limitMs, guard }: Pool): Promise<Lent> {
  guard.checkOutside()
  const client = await pg.connect()
  let broken = false
  const onError = () => {
    broken = true
  }
  client.on('error', onError)
  const release = (spoilt: boolean) => {
    client.off('error', onError)
    client.release(spoilt || broken)
  }
  return { client, limitMs, release }
}

/** For texts that may hold a BEGIN of their own, which would still be open after a failure. */
function loose<T>(pool: Pool, use: (client: pg.PoolClient) => Promise<T>): Promise<T> {
  return borrowed(pool, async (client, spoil) => {
    try {
      return await use(client)
    } catch (error) {
      spoil()
      throw error
    }
  })
}

/** A server that has become read-only is no longer the primary: only a new connection may find the one that is. */
function spoilsConnection(error: unknown): boolean {
  return isConnectionError(error) || isStalePlan(error) || isReadOnly(error)
}

async function attempt<T>(
  pool: Pool,
  client: pg.PoolClient,
  spoil: () => void,
  work: (tx: Tx) => Promise<T>,
): Promise<T> {
  const { tx, commit, rollback } = beginLazily(client, pool.limitMs)
  try {
    const result = await pool.guard.inside(work, tx)
    await commit()
    return result
  } catch (error) {
    // Otherwise PostgreSQL ends the transaction with its connection.
    if (!spoilsConnection(error) && !(await rollback())) spoil()
    throw error
  }
}
