import type { TestProject } from 'vitest/node'
import { setup as setupPostgres } from '../../server/test/setup-postgres.ts'
import { buildPages } from './build.ts'

/** The dashboard as it is shipped, and a cluster to make databases in. */
export async function setup(project: TestProject) {
  buildPages()
  return setupPostgres(project)
}
