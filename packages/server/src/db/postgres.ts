import pg from 'pg'
import type { Database, Sql, Tx } from './database.ts'
import { type Identity, openIdentity } from './identity.ts'
import { cancelOnAbort, readNameOf } from './postgres-reads.ts'
import { type Answer, foreignRows, send, whileUnanswered } from './postgres-session.ts'
import { type Lent, openPostgresSnapshot } from './postgres-snapshot.ts'
import { beginLazily } from './postgres-transaction.ts'
import { closeNow, type Watch, watchConnections } from './postgres-watch.ts'
import { bindAll, toRows } from './rows.ts'
import { isConnectionError, isReadOnly, isStalePlan } from './sql-errors.ts'
import { createGuard, type Guard, retryTransaction } from './transaction-guard.ts'

export interface PostgresOptions {
  /** Connections for ordinary work. Batches, heavy reads, polls and look-ups have their own. */
  poolSize?: number
  /** Connections for heavy reads. */
  readsSize?: number
  connectTimeoutMs?: number
  statementTimeoutMs?: number
  /** After this long without an answer, a new connection checks whether the database still works on the statement. */
  silentMs?: number
  /** How often a new connection checks that the address leads to the same database. */
  lookEveryMs?: number
  /** Records which database answers. */
  identity?: Identity
  /** Timeout for one statement of a heavy read, default 5,000. */
  readTimeoutMs?: number
  /** Called when an idle connection breaks. The next call opens another one. */
  onIdleError?: (error: Error) => void
}

interface Pool {
  pg: pg.Pool
  /** Timeout for one answer, in case the server stops answering. */
  limitMs: number
  guard: Guard
  watch: Watch
}

/** Heavy reads are rare, so their connections are closed after a minute without one. */
const readsIdleMs = 60_000

/** Opens no connection: the first statement does. If the database is down, each call fails on its own. */
export function openPostgres(url: string, options: PostgresOptions = {}): Database {
  const connectTimeoutMs = options.connectTimeoutMs ?? 5000
  const statementTimeoutMs = options.statementTimeoutMs ?? 30_000
  const guard = createGuard()
  const watch = watchConnections({
    connect: () => new pg.Client(connectionOptions(url, connectTimeoutMs)),
    identity: options.identity ?? openIdentity(),
    silentMs: options.silentMs ?? 2000,
    lookEveryMs: options.lookEveryMs ?? 5000,
    limitMs: connectTimeoutMs,
  })
  const pools: pg.Pool[] = []
  const poolOf = (size: number, more: { timeoutMs?: number; idleMs?: number; isForReads?: boolean } = {}): Pool => {
    const { timeoutMs = statementTimeoutMs, idleMs = 0, isForReads = false } = more
    const settingsOf = (client: pg.ClientBase) =>
      sessionSettings({
        statement_timeout: timeoutMs,
        // Without parallel workers, a heavy read is one PostgreSQL process. Workers would exceed the limit of
        // concurrent heavy reads.
        ...(isForReads && { application_name: readNameOf(client), max_parallel_workers_per_gather: 0 }),
      })
    const pool = createPool({ url, size, connectTimeoutMs, idleMs, watch, settingsOf })
    // Without a listener, a connection that breaks while idle would end the process.
    pool.on('error', (error) => options.onIdleError?.(error))
    watch.follow(pool)
    pools.push(pool)
    return { pg: pool, limitMs: timeoutMs + connectTimeoutMs, guard, watch }
  }
  const pool = poolOf(options.poolSize ?? 10)
  const batches = sqlOf(poolOf(1))
  const polls = sqlOf(poolOf(1))
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
    watch: polls,
    get lookups() {
      return isFull(pool.pg) ? spare : ordinary
    },
    reads: (signal) => sqlOf(reads, (client) => cancelOnAbort(client, polls, signal)),
    transaction: (work) =>
      retryTransaction(() => borrowed(pool, (client, spoil) => attempt(pool, client, spoil, work))),
    script: (text) => loose(pool, async (client) => void (await whileUnanswered(client, client.query(text)))),
    openSnapshot: async (choose, signal) => {
      const lent = await lend(reads)
      if (signal?.aborted) {
        lent.release(false)
        throw signal.reason
      }
      const stop = signal && cancelOnAbort(lent.client, polls, signal)
      const release = (spoilt: boolean) => lent.release(stop?.().cancelled || spoilt)
      return await openPostgresSnapshot({ ...lent, release }, statementTimeoutMs, choose)
    },
    close: async () => {
      closing ??= Promise.all([watch.stop(), ...pools.map((one) => one.end())])
      await closing
    },
  }
}

/** True if the next statement would have to wait for a connection. */
const isFull = ({ idleCount, totalCount, options }: pg.Pool): boolean => idleCount === 0 && totalCount >= options.max

/** @param watched starts to watch a statement of this connection, and returns a function that stops the watch */
function sqlOf(pool: Pool, watched?: (client: pg.ClientBase) => () => { cancelled: boolean }): Sql {
  const rows: Sql['rows'] = (text, values) => outsideRows(pool, text, values, watched)
  return {
    rows,
    row: async <Row>(text: string, values?: readonly unknown[]) => (await rows<Row>(text, values))[0],
    foreign: (text, values) => loose(pool, (client) => foreignRows(client, text, values, pool.limitMs)),
  }
}

const connectionOptions = (url: string, connectTimeoutMs: number) => ({
  connectionString: url,
  connectionTimeoutMillis: connectTimeoutMs,
  keepAlive: true,
  keepAliveInitialDelayMillis: 10_000,
  application_name: 'skerry',
})

interface PoolParts {
  url: string
  size: number
  connectTimeoutMs: number
  /**
   * Closes a connection after this long without work. 0 keeps it open, because a timer for each statement would cost
   * more.
   */
  idleMs: number
  watch: Watch
  settingsOf: (client: pg.ClientBase) => string
}

const createPool = ({ url, size, connectTimeoutMs, idleMs, watch, settingsOf }: PoolParts): pg.Pool =>
  new pg.Pool({
    ...connectionOptions(url, connectTimeoutMs),
    max: size,
    idleTimeoutMillis: idleMs,
    maxLifetimeSeconds: 3600,
    onConnect: (client) => watch.admit(client, settingsOf(client), connectTimeoutMs),
  })

/**
 * The parsers need the first three settings, however the role and the database are configured. No statement of the
 * server should last as long as the timeouts: it would keep its connection and its locks.
 */
function sessionSettings(more: Record<string, string | number>): string {
  const settings = {
    timezone: 'UTC',
    datestyle: 'ISO',
    bytea_output: 'hex',
    idle_in_transaction_session_timeout: 60_000,
    ...more,
  }
  return Object.entries(settings)
    .map(([name, value]) => `SET ${name} = '${value}'`)
    .join('; ')
}

/** Returns a connection to the current database. Connections to a database that was replaced are closed. */
async function connect({ pg, watch }: Pool): Promise<pg.PoolClient> {
  for (;;) {
    const client = await pg.connect()
    if (!watch.isOutdated(client)) return client
    closeNow(client)
    client.release(true)
  }
}

async function outsideRows<Row>(
  pool: Pool,
  text: string,
  values?: readonly unknown[],
  watched?: (client: pg.ClientBase) => () => { cancelled: boolean },
): Promise<Row[]> {
  const bound = bindAll(values)
  // None of the failures that are retried leaves any effect of the statement.
  return await retryTransaction(async () => {
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

/** Lends a connection to `use`. pool.query would drop it after any SQL error, such as a unique violation. */
async function borrowed<T>(pool: Pool, use: (client: pg.PoolClient, spoil: () => void) => Promise<T>): Promise<T> {
  pool.guard.checkOutside()
  const client = await connect(pool)
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

async function lend(pool: Pool): Promise<Lent> {
  pool.guard.checkOutside()
  const client = await connect(pool)
  let broken = false
  const onError = () => {
    broken = true
  }
  client.on('error', onError)
  const release = (spoilt: boolean) => {
    client.off('error', onError)
    client.release(spoilt || broken)
  }
  return { client, limitMs: pool.limitMs, release }
}

/**
 * Runs texts that may contain their own BEGIN. A failure closes the connection, because that transaction may still be
 * open.
 */
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

/** A server that became read-only is no longer the primary. Only a new connection may find the new primary. */
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
    // If there is no rollback, PostgreSQL ends the transaction when its connection closes.
    if (!spoilsConnection(error) && !(await rollback())) spoil()
    throw error
  }
}
