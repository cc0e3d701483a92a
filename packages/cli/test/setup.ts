import { execFileSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import type { TestProject } from 'vitest/node'
import { setup as setupEmbedded } from '../../server/test/setup-embedded.ts'

/** Builds the command as it is installed, and makes a database that tests copy. */
export async function setup(project: TestProject) {
  const script = fileURLToPath(new URL('../../../scripts/build.ts', import.meta.url))
  execFileSync(process.execPath, [script, 'command'], { stdio: 'inherit' })
  return setupEmbedded(project)
}
