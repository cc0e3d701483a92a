import { execFileSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'

/** Builds the dashboard and the Connect page as for a release. */
export function buildPages(): void {
  const script = fileURLToPath(new URL('../../../scripts/build.ts', import.meta.url))
  execFileSync(process.execPath, [script, 'dashboard', 'connect'], { stdio: 'inherit' })
}
