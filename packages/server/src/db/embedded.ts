import { mkdirSync } from 'node:fs'
import { join, resolve } from 'node:path'
import type { PGlite } from '@electric-sql/pglite'
import type { Database, Sql, Tx } from './database.ts'
import { createPgDir } from './embedded-create.ts'
import { startPglite } from './embedded-start.ts'
import { lockDataDir, type OwnerLock } from './owner-lock.ts'
import { type Connection, openConnection } from './pglite-connection.ts'
import { isTransient } from './sql-errors.ts'

export interface EmbeddedOptions {
  log?: (message: string) => void
  /** Called after each file or directory that PostgreSQL has synced. */
  onFsync?: (file: string) => void
}

export interface EmbeddedDatabase extends Database {
  readonly engine: 'embedded'
  /** There is no checkpointer in process: without this the write-ahead log, and the start after a crash, only grow. */
  checkpoint(): Promise<void>
  /** There is no autovacuum in process: reclaims dead rows and refreshes the planner's statistics. */
  vacuum(): Promise<void>
}

/** PostgreSQL in this process, in `<dataDir>/postgres`. Fails when another process has the data directory open. */
export async function openEmbedded(dataDir: string, options: EmbeddedOptions = {}): Promise<EmbeddedDatabase> {
  const directory = resolve(dataDir)
  mkdirSync(directory, { recursive: true, mode: 0o700 })
  const lock = await lockDataDir(directory)
  try {
    const pgDir = join(directory, PG_DIR)
    await createPgDir(pgDir, options.log)
    return databaseOver(await startPglite(pgDir, options.onFsync), lock)
  } catch (error) {
    lock.release()
    throw error
  }
}

export const PG_DIR = 'postgres'

function databaseOver(pglite: PGlite, lock: OwnerLock): EmbeddedDatabase {
  const connection = openConnection(pglite)
  const exclusive = mutex()
  const rows: Sql['rows'] = (text, values) => exclusive(() => connection.rows(text, values))
  /** For texts that may hold a BEGIN of their own, which would still be open after a failure. */
  const loose = <T>(run: () => Promise<T>) =>
    exclusive(async () => {
      try {
        return await run()
      } catch (error) {
        await connection.rows('ROLLBACK')
        throw error
      }
    })
  const script = (text: string) => loose(() => connection.script(text))
  let closing: Promise<void> | undefined
  const close = async () => {
    try {
      await script('CHECKPOINT').catch(() => {}) // without it the next start replays the log, no more
      await exclusive(() => pglite.close())
    } finally {
      lock.release()
    }
  }
  return {
    engine: 'embedded',
    rows,
    row: async <Row>(text: string, values?: readonly unknown[]) => (await rows<Row>(text, values))[0],
    foreign: (text, values) => loose(() => connection.foreign(text, values)),
    script,
    transaction: (work) => exclusive(() => transaction(connection, work)),
    checkpoint: () => script('CHECKPOINT'),
    vacuum: () => script('VACUUM (ANALYZE)'),
    close: () => {
      closing ??= close()
      return closing
    },
  }
}

/** One connection: transactions and single statements take turns, in the order in which they were asked for. */
function mutex(): <T>(work: () => Promise<T>) => Promise<T> {
  let last: Promise<unknown> = Promise.resolve()
  return (work) => {
    const turn = last.then(work)
    last = turn.catch(() => {})
    return turn
  }
}

const RETRIES = 5

async function transaction<T>(connection: Connection, work: (tx: Tx) => Promise<T>): Promise<T> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await attemptTransaction(connection, work)
    } catch (error) {
      // With one connection only raised by hand, but the same code must behave the same on both engines.
      if (attempt > RETRIES || !isTransient(error)) throw error
    }
  }
}

async function attemptTransaction<T>(connection: Connection, work: (tx: Tx) => Promise<T>): Promise<T> {
  await connection.rows('BEGIN')
  const turn = mutex()
  let ended = false
  const inside = <T>(run: () => Promise<T>): Promise<T> =>
    ended ? Promise.reject(new Error('This transaction has ended')) : turn(run)
  const rows: Sql['rows'] = (text, values) => inside(() => connection.rows(text, values))
  const tx = {
    rows,
    row: async <Row>(text: string, values?: readonly unknown[]) => (await rows<Row>(text, values))[0],
    foreign: (text: string, values?: readonly unknown[]) => inside(() => connection.foreign(text, values)),
    script: (text: string) => inside(() => connection.script(text)),
    later(text: string, values?: readonly unknown[]) {
      later.push(inside(() => connection.rows(text, values)).then(noError, (error: unknown) => error))
    },
  } as unknown as Tx
  const later: Promise<unknown>[] = []
  try {
    const result = await work(tx)
    ended = true
    await turn(async () => {})
    for (const error of await Promise.all(later)) if (error !== undefined) throw error
    await connection.commit()
    return result
  } catch (error) {
    ended = true
    await turn(() => connection.rows('ROLLBACK'))
    throw error
  }
}

function noError(): undefined {}
