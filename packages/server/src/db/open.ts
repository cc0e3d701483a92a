import { setTimeout as sleep } from 'node:timers/promises'
import type { Database } from './database.ts'
import type { Identity } from './identity.ts'
import { openPostgres } from './postgres.ts'
import { isAccessRefused } from './sql-errors.ts'

export interface DatabaseConfig {
  /** postgres://...; if unset, the database is embedded, in `dataDir`. */
  databaseUrl?: string | null | undefined
  dataDir: string
  /** Connections to PostgreSQL for ordinary work and batches. */
  poolSize?: number | undefined
  /** Connections to PostgreSQL for heavy reads. */
  readsSize?: number | undefined
  /** Timeout for getting a connection, new or from the pool, default 5,000. */
  connectTimeoutMs?: number | undefined
  /** After this long without an answer from PostgreSQL, a new connection checks it, default 2,000. */
  databaseSilentMs?: number | undefined
  /** Records which database answers. */
  identity?: Identity | undefined
  /** Timeout for one statement of a heavy read, default 5,000. */
  readTimeoutMs?: number | undefined
  /** How long to wait at start for a database that does not answer yet. */
  waitMs?: number | undefined
  /**
   * Called when the embedded database has stopped for good, for example because the disk is full. The process should
   * end.
   */
  onStopped?: ((error: Error) => void) | undefined
  /** Only for the embedded database; see `StartOptions`. */
  optimize?: boolean | undefined
  /** Called when an idle connection breaks. By default, the server logs it. */
  onIdleError?: ((error: Error) => void) | undefined
}

/** The part of a logger that this module needs. The server's log has this shape. */
export interface DatabaseLog {
  info(message: string): void
  warn(message: string): void
  error(message: string): void
}

/** Opens the configured engine and returns once it has answered. */
export async function openDatabase(config: DatabaseConfig, log: DatabaseLog): Promise<Database> {
  if (!config.databaseUrl) {
    // Imported only here: with PostgreSQL it would waste memory.
    const { openEmbedded } = await import('./embedded.ts')
    return await openEmbedded(config.dataDir, {
      optimize: config.optimize,
      log: (message) => log.info(message),
      onStopped(error) {
        log.error(error.message)
        config.onStopped?.(error)
      },
    })
  }
  const place = placeOf(config.databaseUrl)
  const db = openPostgres(config.databaseUrl, {
    // One connection of the pool size is for batches.
    ...(config.poolSize === undefined ? {} : { poolSize: config.poolSize - 1 }),
    ...(config.readsSize === undefined ? {} : { readsSize: config.readsSize }),
    ...(config.readTimeoutMs === undefined ? {} : { readTimeoutMs: config.readTimeoutMs }),
    ...(config.connectTimeoutMs === undefined ? {} : { connectTimeoutMs: config.connectTimeoutMs }),
    ...(config.databaseSilentMs === undefined ? {} : { silentMs: config.databaseSilentMs }),
    ...(config.identity === undefined ? {} : { identity: config.identity }),
    onIdleError:
      config.onIdleError ?? ((error) => log.warn(`A connection to PostgreSQL at ${place} broke: ${error.message}`)),
  })
  try {
    await waitUntilUp(db, place, config.waitMs ?? 60_000, log)
    await checkFitness(db, place)
    return db
  } catch (error) {
    await db.close()
    throw error
  }
}

async function waitUntilUp(db: Database, place: string, waitMs: number, log: DatabaseLog): Promise<void> {
  const deadline = Date.now() + waitMs
  let saidReason: string | undefined
  for (let pauseMs = 100; ; pauseMs = Math.min(pauseMs * 2, 5000)) {
    try {
      await db.rows('select 1')
      if (saidReason !== undefined) log.info(`PostgreSQL at ${place} answers`)
      return
    } catch (error) {
      const reason = reasonOf(error)
      if (isAccessRefused(error)) throw new Error(`PostgreSQL at ${place} refuses access: ${reason}`, { cause: error })
      if (Date.now() + pauseMs > deadline) {
        throw new Error(`PostgreSQL at ${place} did not answer within ${waitMs / 1000} s: ${reason}`, { cause: error })
      }
      if (reason !== saidReason)
        log.warn(`PostgreSQL at ${place} does not answer yet (${reason}); trying again for ${waitMs / 1000} s`)
      saidReason = reason
    }
    await sleep(pauseMs)
  }
}

async function checkFitness(db: Database, place: string): Promise<void> {
  const row = await db.row<{ number: number; version: string; encoding: string }>(
    `select current_setting('server_version_num')::int as number, current_setting('server_version') as version,
            current_setting('server_encoding') as encoding`,
  )
  if (row === undefined || row.number < 150_000) {
    throw new Error(`PostgreSQL at ${place} is version ${row?.version}; Skerry needs 15 or newer`)
  }
  if (row.encoding !== 'UTF8') throw new Error(`The database ${place} is encoded in ${row.encoding}; Skerry needs UTF8`)
}

/** Returns host, port and database of a connection URL: never user, password or parameters. */
function placeOf(url: string): string {
  const parsed = URL.parse(url)
  // No `cause` here: the error of the parser contains the whole URL.
  if (parsed === null || !/^postgres(ql)?:$/.test(parsed.protocol)) {
    throw new Error('SKERRY_DATABASE_URL is not of the form postgres://user:password@host:port/database')
  }
  return `${parsed.host || 'localhost'}${parsed.pathname}`
}

function reasonOf(error: unknown): string {
  // If both localhost addresses refuse, Node reports an AggregateError without a message.
  if (error instanceof AggregateError) return error.errors.map(reasonOf).join('; ')
  return error instanceof Error ? error.message : String(error)
}
