import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { type Config, readConfig } from '../config.ts'
import type { Database } from '../db/database.ts'
import { checkMigrated, isEmptyDatabase, migrate } from '../db/migrate.ts'
import { openDatabase } from '../db/open.ts'
import { makeAuditPartitions } from '../jobs/maintain.ts'

interface Output {
  write(text: string): unknown
}

/** The process that runs a command. */
export interface Host {
  stdout: Output
  stderr: Output
  /** An option of the embedded database, for a process that opens hundreds of them. */
  optimize?: boolean
}

/** The tools of a command. */
export interface Operation {
  config: Config
  db: Database
  /** Writes a line to standard output. */
  print: (line: string) => void
}

/**
 * Opens the database for one command and closes it.
 *
 * @param options.create prepares an empty database, and creates a missing data directory, like the first start of a
 *   server
 */
export type WithDatabase = (
  work: (operation: Operation) => Promise<void>,
  options?: { create?: boolean },
) => Promise<void>

/** A refusal of a command. Its message is the reason. */
export class Refused extends Error {}

const waitMs = 5000

/**
 * Opens the database of the server with the same settings. PostgreSQL is shared with running servers. The embedded
 * database has only one owner, so no command works while the server runs.
 */
export const databaseOf =
  (environment: Record<string, string | undefined>, { stdout, stderr, optimize }: Host): WithDatabase =>
  async (work, { create = false } = {}) => {
    const config = readConfig(environment)
    const isThere = config.databaseUrl !== null || existsSync(join(config.dataDir, 'postgres'))
    if (!isThere && !create)
      throw new Refused(
        `There is no database in ${config.dataDir}. Set SKERRY_DATA_DIR or SKERRY_DATABASE_URL as for the server.`,
      )
    const print = (line: string) => void stdout.write(`${line}\n`)
    const warn = (message: string) => void stderr.write(`skerry-server: ${message}\n`)
    const log = { info: () => {}, warn, error: warn }
    const db = await openDatabase({ ...config, poolSize: 3, waitMs, optimize }, log)
    try {
      if (create && (await isEmptyDatabase(db))) await makeReady(db)
      await checkMigrated(db)
      if (!isThere) print(`A new database was made in ${config.dataDir}.`)
      await work({ config, db, print })
    } finally {
      await db.close()
    }
  }

async function makeReady(db: Database): Promise<void> {
  await migrate(db)
  await makeAuditPartitions({ db, now: () => new Date() })
}
