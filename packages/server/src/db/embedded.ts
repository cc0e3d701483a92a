import { chmodSync } from 'node:fs'
import { join, resolve } from 'node:path'
import type { Database, Sql, Tx } from './database.ts'
import { createPgDir } from './embedded-create.ts'
import { openEmbeddedSnapshot } from './embedded-snapshot.ts'
import { type StartOptions, startPglite } from './embedded-start.ts'
import { lockDataDir, type OwnerLock } from './owner-lock.ts'
import { type Connection, openConnection } from './pglite-connection.ts'
import { createGuard, retryTransaction } from './transaction-guard.ts'

export interface EmbeddedOptions {
  log?: (message: string) => void
  /** Called after PostgreSQL has synced a file or directory. For tests, which may throw here to fail the sync. */
  onFsync?: (file: string) => void
  /**
   * Called when PostgreSQL has stopped by itself, because it cannot write or sync its log: the disk is full or broken.
   * Every call fails from now on, and only a new process can recover.
   */
  onStopped?: (error: Error) => void
  optimize?: StartOptions['optimize']
}

export interface EmbeddedDatabase extends Database {
  readonly engine: 'embedded'
  /**
   * PGlite has no checkpointer. Without this call the write-ahead log keeps growing, and so does the start after a
   * crash.
   */
  checkpoint(): Promise<void>
  /** PGlite has no autovacuum. This call reclaims dead rows and refreshes the planner's statistics. */
  vacuum(): Promise<void>
}

/**
 * Opens PostgreSQL in this process, in `<dataDir>/postgres`. Fails when another process has the data directory open.
 */
export async function openEmbedded(dataDir: string, options: EmbeddedOptions = {}): Promise<EmbeddedDatabase> {
  const directory = resolve(dataDir)
  const lock = lockDataDir(directory)
  try {
    const pgDir = join(directory, PG_DIR)
    createPgDir(pgDir, options.log)
    keepToOwner(pgDir, 0o700, options)
    return databaseOver(await start(pgDir, options), lock)
  } catch (error) {
    lock.release()
    throw error
  }
}

/**
 * PGlite creates files that everybody may write, so the folder above them keeps other users out. This also repairs an
 * existing data directory that is open to others, for example from an earlier release. File systems without modes, such
 * as some network shares, refuse. There the mount decides about access.
 */
function keepToOwner(path: string, mode: number, { log }: EmbeddedOptions): void {
  try {
    chmodSync(path, mode)
  } catch (error) {
    log?.(`Cannot keep other users of this machine out of ${path} (${(error as Error).message}); see to it yourself`)
  }
}

async function start(pgDir: string, options: EmbeddedOptions): Promise<Connection> {
  let why: string | undefined
  const onPanic = (line: string) => {
    why ??= line
  }
  const pglite = await startPglite(pgDir, { ...options, onPanic }).catch((cause: Error) => {
    throw new Error(`The embedded database in ${pgDir} does not start: ${why ?? cause.message}`, { cause })
  })
  return openConnection(pglite, (cause) => {
    const reason = why ?? (cause as Error).message
    const error = new Error(`The embedded database has stopped (${reason}); restart the server`, { cause })
    options.onStopped?.(error)
    return error
  })
}

export const PG_DIR = 'postgres'

function databaseOver(connection: Connection, lock: OwnerLock): EmbeddedDatabase {
  const guard = createGuard()
  const queue = mutex()
  let closing: Promise<void> | undefined
  const exclusive = <T>(work: () => Promise<T>) => {
    guard.checkOutside()
    if (closing) throw new Error('The database has been closed')
    return queue(work)
  }
  const rows: Sql['rows'] = async (text, values) => exclusive(() => connection.rows(text, values))
  const reads = (signal: AbortSignal): Sql => {
    const wanted: Sql['rows'] = async (text, values) =>
      exclusive(async () => {
        signal.throwIfAborted()
        return await connection.rows(text, values)
      })
    return { ...sql, rows: wanted, row: async (text, values) => (await wanted<never>(text, values))[0] }
  }
  /** Runs texts that may contain their own BEGIN. A failure rolls back, because that transaction may still be open. */
  const loose = async <T>(run: () => Promise<T>) =>
    exclusive(async () => {
      try {
        return await run()
      } catch (error) {
        await connection.rows('ROLLBACK')
        throw error
      }
    })
  const transact: Database['transaction'] = async (work) =>
    exclusive(() => retryTransaction(() => attempt(connection, (tx) => guard.inside(work, tx))))
  const script = (text: string) => loose(() => connection.script(text))
  const close = () =>
    queue(async () => {
      try {
        await connection.close()
      } finally {
        lock.release()
      }
    })
  const sql: Sql = {
    rows,
    row: async <Row>(text: string, values?: readonly unknown[]) => (await rows<Row>(text, values))[0],
    foreign: (text, values) => loose(() => connection.foreign(text, values)),
  }
  return {
    engine: 'embedded',
    ...sql,
    batches: sql,
    watch: sql,
    lookups: sql,
    reads,
    script,
    transaction: transact,
    openSnapshot: (choose) => openEmbeddedSnapshot({ connection, exclusive, transact }, choose),
    checkpoint: () => script('CHECKPOINT'),
    vacuum: () => script('VACUUM (ANALYZE)'),
    close: () => {
      closing ??= close()
      return closing
    },
  }
}

type Mutex = <T>(work: () => Promise<T>) => Promise<T>

/** Runs work on the only connection one after the other, in the order of the calls. */
function mutex(): Mutex {
  let last: Promise<unknown> = Promise.resolve()
  return (work) => {
    const turn = last.then(work)
    last = turn.catch(() => {})
    return turn
  }
}

async function attempt<T>(connection: Connection, work: (tx: Tx) => Promise<T>): Promise<T> {
  await connection.rows('BEGIN ISOLATION LEVEL READ COMMITTED')
  const state: TxState = { turn: mutex(), ended: false, failures: [] }
  try {
    const result = await work(transactionHandle(connection, state))
    state.ended = true
    await state.turn(async () => {})
    if (state.failures.length > 0) throw state.failures[0]
    await connection.commit()
    return result
  } catch (error) {
    state.ended = true
    await state.turn(() => connection.rows('ROLLBACK'))
    throw error
  }
}

interface TxState {
  turn: Mutex
  ended: boolean
  failures: unknown[]
}

function transactionHandle(connection: Connection, state: TxState): Tx {
  const inside = async <T>(run: () => Promise<T>): Promise<T> => {
    if (state.ended) throw new Error('This transaction has ended')
    return await state.turn(async () => {
      // Like PostgreSQL: after a failure nothing more runs, and COMMIT fails with the first failure.
      if (state.failures.length > 0) throw state.failures[0]
      return await run().catch((error: unknown) => {
        state.failures.push(error)
        throw error
      })
    })
  }
  const rows: Sql['rows'] = (text, values) => inside(() => connection.rows(text, values))
  return {
    rows,
    row: async <Row>(text: string, values?: readonly unknown[]) => (await rows<Row>(text, values))[0],
    foreign: (text: string, values?: readonly unknown[]) => inside(() => connection.foreign(text, values)),
    script: (text: string) => inside(() => connection.script(text)),
    later(text: string, values?: readonly unknown[]) {
      if (state.ended) throw new Error('This transaction has ended')
      rows(text, values).catch(() => {})
    },
  } as Tx
}
