import { execFileSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'

export function buildDashboard(): void {
  const script = fileURLToPath(new URL('../../../scripts/build-dashboard.ts', import.meta.url))
  execFileSync(process.execPath, [script], { stdio: 'inherit' })
}
