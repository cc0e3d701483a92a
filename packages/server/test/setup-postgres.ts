import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import type { TestProject } from 'vitest/node'
import { prepare } from './prepare.ts'
import { openScratch } from './scratch.ts'
import { startPostgres } from './services/postgres.ts'

/** Starts a PostgreSQL of the run's own, with one migrated database for every world to copy. */
export async function setup(project: TestProject) {
  // Whether a commit survives a crash is tested apart (test/crash), on a cluster that syncs.
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
