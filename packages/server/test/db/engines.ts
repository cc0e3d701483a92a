import type { Database } from '../../src/db/database.ts'
import { openEmbedded } from '../../src/db/embedded.ts'
import { openPostgres } from '../../src/db/postgres.ts'
import { missingPostgres, startPostgres } from '../services/postgres.ts'
import { longMs } from '../wait-limits.ts'
import { makeTemplate } from './template.ts'

/** A database engine, for suites that must pass on both. Each `open` returns a new, empty database. */
export interface Engine {
  name: Database['engine']
  /** Why its suites are skipped on this machine; undefined if they run. */
  missing: string | undefined
  start(): Promise<RunningEngine>
}

export interface RunningEngine {
  open(): Promise<Database>
  /** Opens the newest database again, as a second server does. The embedded engine returns the same one instead. */
  openSecond(): Promise<Database>
  stop(): Promise<void>
}

export const engines: Engine[] = [
  { name: 'embedded', missing: undefined, start: startEmbedded },
  { name: 'postgres', missing: process.env.SKERRY_REQUIRE_SERVICES === '1' ? undefined : missingPostgres(), start },
]

async function startEmbedded(): Promise<RunningEngine> {
  const template = await makeTemplate()
  const opened: Database[] = []
  return {
    async open() {
      const db = await openEmbedded(await template.copy())
      opened.push(db)
      return db
    },
    openSecond: async () => opened.at(-1) as Database,
    async stop() {
      for (const db of opened) await db.close()
      await template.remove()
    },
  }
}

async function start(): Promise<RunningEngine> {
  const service = await startPostgres({ fsync: false })
  if (service === null) throw new Error(missingPostgres())
  const opened: Database[] = []
  let count = 0
  let url = ''
  const openUrl = async () => {
    const db = openPostgres(url, { connectTimeoutMs: longMs })
    opened.push(db)
    return db
  }
  return {
    async open() {
      url = await service.createDatabase(`test_${++count}`)
      return await openUrl()
    },
    openSecond: openUrl,
    async stop() {
      for (const db of opened) await db.close()
      await service.dispose()
    },
  }
}
