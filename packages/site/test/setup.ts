import { fileURLToPath } from 'node:url'
import type { TestProject } from 'vitest/node'
import { buildSite } from '../../../scripts/site.ts'
import { setup as setupEmbedded } from '../../server/test/setup-embedded.ts'

/** Builds the site as for a release, and prepares a database that tests copy. */
export async function setup(project: TestProject) {
  await buildSite(fileURLToPath(new URL('../../..', import.meta.url)))
  return setupEmbedded(project)
}
