import type { TestProject } from 'vitest/node'
import { setup as setupEmbedded } from '../../server/test/setup-embedded.ts'
import { buildPages } from './build.ts'

/** The dashboard as it is shipped, and a database to copy. */
export async function setup(project: TestProject) {
  buildPages()
  return setupEmbedded(project)
}
