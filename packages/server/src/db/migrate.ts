import { createHash } from 'node:crypto'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Database, Sql, Tx } from './database.ts'
import { isUndefinedTable } from './sql-errors.ts'

export interface MigrateOptions {
  /** A folder to use instead of this release's own, for tests. */
  folder?: string
  log?: (message: string) => void
}

interface Migration {
  number: number
  name: string
  sha256: string
  sql: string
}

interface Applied {
  number: number
  name: string
  sha256: string
}

const ownFolder = fileURLToPath(new URL('./migrations/', import.meta.url))

/** An arbitrary number, the same in every release. */
const ADVISORY_LOCK = 7_536_791_120_417

/**
 * Upgrades the schema to this release. Several servers may call it at once. Each migration runs in its own transaction,
 * which first takes a lock and then checks again. The first server applies it, and the others skip it.
 */
export async function migrate(db: Database, options: MigrateOptions = {}): Promise<void> {
  readOwnMigrations()
  const migrations = readMigrations(options.folder ?? ownFolder)
  const applied = await db.transaction(async (tx) => {
    await lockSchema(db, tx)
    await tx.script(
      `create table if not exists schema_migrations (
         number      integer primary key,
         name        text not null,
         sha256      text not null,
         applied_at  timestamptz not null default now()
       )`,
    )
    const found = await readApplied(tx)
    check(migrations, found)
    return found
  })
  // Most starts apply none. Each one that is left is checked again under the lock.
  for (const migration of migrations.slice(applied.length)) await applyOnce(db, migration, migrations, options.log)
}

/** True if no release has ever started on this database. */
export async function isEmptyDatabase(db: Sql): Promise<boolean> {
  const row = await db.row<{ found: boolean }>(`select to_regclass('schema_migrations') is not null as found`)
  return row?.found !== true
}

/** Throws unless the schema is exactly that of this release. For callers that must not change the schema. */
export async function checkMigrated(db: Sql): Promise<void> {
  const pending = await pendingMigrations(db)
  if (pending.length > 0)
    throw new Error(`The database schema is older than this release (${pending[0]} is missing). Start the server once.`)
  check(readMigrations(ownFolder), await readApplied(db))
}

export type SchemaFault = 'older' | 'newer' | 'different'

/**
 * Compares the schema with this release -> null if they match. The migrations are read only once, because an upgrade
 * may replace the files while the process still runs the old code.
 */
export async function findSchemaFault(db: Sql, options: MigrateOptions = {}): Promise<SchemaFault | null> {
  const own = options.folder === undefined ? readOwnMigrations() : readMigrations(options.folder)
  try {
    const applied = await readApplied(db)
    const isSame = ({ number, sha256 }: Applied, index: number) =>
      own[index]?.number === number && own[index]?.sha256 === sha256
    if (!applied.slice(0, own.length).every(isSame)) return 'different'
    if (applied.length > own.length) return 'newer'
    return applied.length < own.length ? 'older' : null
  } catch (error) {
    if (isUndefinedTable(error)) return 'older'
    throw error
  }
}

let ownMigrations: Applied[] | undefined

function readOwnMigrations(): readonly Applied[] {
  ownMigrations ??= readMigrations(ownFolder).map(({ number, name, sha256 }) => ({ number, name, sha256 }))
  return ownMigrations
}

/** Returns the names of the migrations that this release has and the database lacks. */
export async function pendingMigrations(db: Sql, options: MigrateOptions = {}): Promise<string[]> {
  const names = migrationFiles(options.folder ?? ownFolder)
  try {
    const applied = new Set((await readApplied(db)).map(({ number }) => number))
    return names.filter((name) => !applied.has(numberOf(name)))
  } catch (error) {
    if (isUndefinedTable(error)) return names
    throw error
  }
}

async function applyOnce(
  db: Database,
  migration: Migration,
  all: readonly Migration[],
  log: MigrateOptions['log'],
): Promise<void> {
  const done = await db.transaction(async (tx) => {
    await lockSchema(db, tx)
    const applied = await readApplied(tx)
    check(all, applied)
    if (applied.some(({ number }) => number === migration.number)) return false
    try {
      await tx.script(migration.sql)
    } catch (error) {
      throw new Error(`Migration ${migration.name} failed: ${(error as Error).message}`, { cause: error })
    }
    await tx.rows('insert into schema_migrations (number, name, sha256) values ($1, $2, $3)', [
      migration.number,
      migration.name,
      migration.sha256,
    ])
    return true
  })
  if (done) log?.(`Applied migration ${migration.name}`)
}

/** Waits for other servers that migrate. A migration, or this wait, may take longer than the timeout of a request. */
async function lockSchema(db: Database, tx: Tx): Promise<void> {
  if (db.engine === 'embedded') return // one process, one connection
  await tx.script(
    `set local statement_timeout = 0; set local lock_timeout = 0; select pg_advisory_xact_lock(${ADVISORY_LOCK})`,
  )
}

/** The hash of an earlier text of 0036-jobs -> the hash of the current text. Both create the same tables. */
const formerWordings: Readonly<Record<string, string>> = {
  '087758d6293f0c04348e16c6d79cee766e820062687a14675722036887e37efc':
    '4473d78f4a7a48e6a25be7d7db5ce3037b1b3deb0d86f638b314609420e0a1bf',
}

async function readApplied(sql: Sql): Promise<Applied[]> {
  const rows = await sql.rows<Applied>('select number, name, sha256 from schema_migrations order by number')
  return rows.map((row) => ({ ...row, sha256: formerWordings[row.sha256] ?? row.sha256 }))
}

function check(migrations: readonly Migration[], applied: readonly Applied[]): void {
  applied.forEach((row, index) => {
    const own = migrations[index]
    if (own === undefined) {
      throw new Error(
        `The database schema is newer than this server: it has migration ${row.name}, which this release does not know. Start a release that knows it.`,
      )
    }
    if (own.number !== row.number || own.sha256 !== row.sha256) {
      throw new Error(
        `Migration ${row.name} is not the one that was applied to this database (${own.name} in this release). Applied migrations never change; add a new one.`,
      )
    }
  })
}

function readMigrations(folder: string): Migration[] {
  return migrationFiles(folder).map((name) => {
    // A checkout on Windows may change the line ends. The migration is still the same.
    const sql = readFileSync(join(folder, `${name}.sql`), 'utf8').replaceAll('\r\n', '\n')
    return { number: numberOf(name), name, sql, sha256: createHash('sha256').update(sql).digest('hex') }
  })
}

/**
 * Lists `0001-first`, `0002-second`, ... The numbers have no gaps, so the applied migrations are always the start of
 * the list.
 */
function migrationFiles(folder: string): string[] {
  const names = readdirSync(folder)
    .filter((file) => file.endsWith('.sql'))
    .sort()
    .map((file) => file.slice(0, -4))
  names.forEach((name, index) => {
    if (!/^\d{4}-[a-z0-9-]+$/.test(name) || numberOf(name) !== index + 1) {
      throw new Error(`Migration ${name}.sql is out of order: expected number ${index + 1}, as in 0001-name.sql`)
    }
  })
  return names
}

function numberOf(name: string): number {
  return Number(name.slice(0, 4))
}
