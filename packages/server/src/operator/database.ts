import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { type Config, readConfig } from '../config.ts'
import type { Database } from '../db/database.ts'
import { checkMigrated } from '../db/migrate.ts'
import { openDatabase } from '../db/open.ts'

/** What a command works with. */
export interface Operation {
  config: Config
  db: Database
  /** Writes a line to standard output. */
  print: (line: string) => void
}

/** Opens the database for one command and closes it. */
export type WithDatabase = (work: (operation: Operation) => Promise<void>) => Promise<void>

/** What is refused with the reason as its message. */
export class Refused extends Error {}

const waitMs = 5000

/**
 * The database of the server that has the same settings. PostgreSQL is shared with running servers; the embedded database
 * has one owner, so that a running server keeps every command out.
 */
export const databaseOf =
  (environment: Record<string, string | undefined>, print: Operation['print']): WithDatabase =>
  async (work) => {
    const config = readConfig(environment)
    if (config.databaseUrl === null && !existsSync(join(config.dataDir, 'postgres')))
      throw new Refused(
        `There is no database in ${config.dataDir}. Set SKERRY_DATA_DIR or SKERRY_DATABASE_URL as for the server.`,
      )
    const log = { info: () => {}, warn: warn, error: warn }
    const db = await openDatabase({ ...config, poolSize: 3, waitMs }, log)
    try {
      await checkMigrated(db)
      await work({ config, db, print })
    } finally {
      await db.close()
    }
  }

const warn = (message: string) => void process.stderr.write(`skerry-server: ${message}\n`)
