import type { TestProject } from 'vitest/node'
import { setup as setupPostgres } from '../../server/test/setup-postgres.ts'
import { buildPages } from './build.ts'

/** Builds the pages as for a release, and starts a PostgreSQL cluster for the test databases. */
export async function setup(project: TestProject) {
  buildPages()
  return setupPostgres(project)
}
