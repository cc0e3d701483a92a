import pg from 'pg'
import type { Database, Sql, Tx } from './database.ts'
import { type Bound, bind, camel, parserOf } from './rows.ts'
import { isConnectionError, isStalePlan, isTransient } from './sql-errors.ts'

export interface PostgresOptions {
  poolSize?: number
  connectTimeoutMs?: number
  statementTimeoutMs?: number
  /** Hears of connections that broke while idle. The next call simply opens another. */
  onIdleError?: (error: Error) => void
}

const RETRIES = 5
const ENDED = 'This transaction has ended'

/** Parsers for every column, instead of the driver's own table, which is one per process. */
const types = { getTypeParser: (oid: number) => parserOf(oid) } as unknown as pg.CustomTypesConfig

/** Opens no connection yet; the first statement does, so a database that is down shows there, call by call. */
export function openPostgres(url: string, options: PostgresOptions = {}): Database {
  const pool = createPool(url, options)
  // Without a listener, a connection that breaks while idle would end the process.
  pool.on('error', (error) => options.onIdleError?.(error))

  const outside: Sql = {
    rows: (text, values) => outsideRows(pool, text, values),
    row: async (text, values) => (await outsideRows<never>(pool, text, values))[0],
  }
  return {
    ...outside,
    engine: 'postgres',
    transaction: (work) => transaction(pool, work),
    script: async (text) => {
      await borrowed(pool, (client) => client.query(text))
    },
    executeSql: async (text, values) => {
      const result = await pool.query({ text, types: pg.types, ...(values?.length ? { values } : {}) })
      // Of several statements, one result each.
      return { rows: [result].flat().flatMap((one) => one.rows) }
    },
    close: () => pool.end(),
  }
}

function createPool(url: string, options: PostgresOptions): pg.Pool {
  return new pg.Pool({
    connectionString: url,
    max: options.poolSize ?? 20,
    connectionTimeoutMillis: options.connectTimeoutMs ?? 5000,
    // No statement of the server is meant to take this long; one that does would hold its connection and locks.
    statement_timeout: options.statementTimeoutMs ?? 30_000,
    idle_in_transaction_session_timeout: 60_000,
    keepAlive: true,
    idleTimeoutMillis: 60_000,
    application_name: 'skerry',
    // Lets BEGIN and the first statement, and statements that a transaction starts together, share a round trip.
    pipeline: true,
    types,
    onConnect: configureSession,
  })
}

/** The role or the database may be configured otherwise; parsers rely on these. */
async function configureSession(client: pg.ClientBase): Promise<void> {
  await client.query("SET timezone = 'UTC'; SET datestyle = 'ISO'; SET bytea_output = 'hex'")
}

/** Texts are constants, so the memory of this map is bounded by the source code. */
const names = new Map<string, string>()

function nameOf(text: string): string {
  let name = names.get(text)
  if (name === undefined) {
    name = `s${names.size}`
    names.set(text, name)
  }
  return name
}

interface Prepared {
  name: string
  text: string
  values: Bound[]
  rowMode: 'array'
}

function prepared(text: string, values: readonly unknown[] = []): Prepared {
  return { name: nameOf(text), text, values: values.map(bind), rowMode: 'array' }
}

async function outsideRows<Row>(pool: pg.Pool, text: string, values?: readonly unknown[]): Promise<Row[]> {
  const query = prepared(text, values)
  for (let attempt = 1; ; attempt++) {
    try {
      return toRows<Row>(await borrowed(pool, (client) => client.query<unknown[]>(query)))
    } catch (error) {
      // The statement did not run, and that connection is dropped.
      if (attempt > RETRIES || !isStalePlan(error)) throw error
    }
  }
}

/** Unlike pool.query, which drops its connection after any SQL error, a unique violation for instance. */
async function borrowed<T>(pool: pg.Pool, use: (client: pg.PoolClient) => Promise<T>): Promise<T> {
  const client = await pool.connect()
  let broken: Error | undefined
  const onError = (error: Error) => {
    broken = error
  }
  client.on('error', onError)
  try {
    return await use(client)
  } catch (error) {
    if (isConnectionError(error) || isStalePlan(error)) broken = error as Error
    throw error
  } finally {
    client.off('error', onError)
    client.release(broken)
  }
}

function toRows<Row>(result: pg.QueryArrayResult<unknown[]>): Row[] {
  const keys = result.fields.map((field) => camel(field.name))
  return result.rows.map((values) => {
    const row: Record<string, unknown> = {}
    for (let i = 0; i < keys.length; i++) row[keys[i] as string] = values[i]
    return row as Row
  })
}

async function transaction<T>(pool: pg.Pool, work: (tx: Tx) => Promise<T>): Promise<T> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await attemptTransaction(pool, work)
    } catch (error) {
      if (attempt > RETRIES || !(isTransient(error) || isStalePlan(error))) throw error
    }
  }
}

async function attemptTransaction<T>(pool: pg.Pool, work: (tx: Tx) => Promise<T>): Promise<T> {
  const client = await pool.connect()
  let broken: Error | undefined
  const onError = (error: Error) => {
    broken = error
  }
  client.on('error', onError)
  const state: TxState = { open: true }
  try {
    await client.query('BEGIN')
    const result = await work(transactionHandle(client, state))
    state.open = false
    await commit(client)
    return result
  } catch (error) {
    state.open = false
    broken ??= await rollback(client, error)
    throw error
  } finally {
    client.off('error', onError)
    client.release(broken)
  }
}

interface TxState {
  open: boolean
}

function transactionHandle(client: pg.PoolClient, state: TxState): Tx {
  const rows = async <Row>(text: string, values?: readonly unknown[]): Promise<Row[]> => {
    if (!state.open) throw new Error(ENDED)
    return toRows<Row>(await client.query<unknown[]>(prepared(text, values)))
  }
  const row = async <Row>(text: string, values?: readonly unknown[]) => (await rows<Row>(text, values))[0]
  const script = async (text: string) => {
    if (!state.open) throw new Error(ENDED)
    await client.query(text)
  }
  return { rows, row, script } as Tx
}

/** PostgreSQL answers COMMIT of a failed transaction with ROLLBACK and no error: that is not a commit. */
async function commit(client: pg.PoolClient): Promise<void> {
  const { command } = await client.query('COMMIT')
  if (command !== 'COMMIT') throw new Error('The transaction was rolled back: a statement in it had failed')
}

/** Returns an error when the connection must not go back to the pool. */
async function rollback(client: pg.PoolClient, cause: unknown): Promise<Error | undefined> {
  if (isConnectionError(cause) || isStalePlan(cause)) return cause as Error
  try {
    await client.query('ROLLBACK')
  } catch (error) {
    return error as Error
  }
}
