import type { TestProject } from 'vitest/node'
import { setup as setupEmbedded } from '../../server/test/setup-embedded.ts'
import { buildPages } from './build.ts'

/** Builds the pages as for a release, and prepares a database that tests copy. */
export async function setup(project: TestProject) {
  buildPages()
  return setupEmbedded(project)
}
