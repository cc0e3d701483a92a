import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import type { TestProject } from 'vitest/node'
import { prepare } from './prepare.ts'
import { openScratch } from './scratch.ts'
import { startPostgres } from './services/postgres.ts'

/** Starts a PostgreSQL for this run, with one migrated database that every world copies. */
export async function setup(project: TestProject) {
  // No fsync here. The suites in test/crash test that commits survive a crash, on clusters with fsync.
  const postgres = await startPostgres({ fsync: false })
  if (!postgres) throw new Error('no PostgreSQL on this machine; scripts/test.ts leaves this project out and says so')
  const url = await postgres.createDatabase('template_skerry')
  const scratch = await openScratch()
  await prepare({ SKERRY_DATA_DIR: join(scratch, 'template'), SKERRY_DATABASE_URL: url })
  project.provide('engine', 'postgres')
  project.provide('signIn', 'issuer')
  project.provide('scratch', scratch)
  project.provide('templateDir', '')
  project.provide('postgresUrl', postgres.url)
  return async () => {
    await postgres.dispose()
    await rm(scratch, { recursive: true, force: true })
  }
}
