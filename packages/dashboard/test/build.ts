import { execFileSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'

/** The dashboard and the Connect page, as they are shipped. */
export function buildPages(): void {
  const script = fileURLToPath(new URL('../../../scripts/build.ts', import.meta.url))
  execFileSync(process.execPath, [script, 'dashboard', 'connect'], { stdio: 'inherit' })
}
