import { spawnSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { missingPostgres } from '../packages/server/test/services/postgres.ts'

// Runs every suite that this machine can run, and says loudly what it left out. With SKERRY_REQUIRE_SERVICES=1, as in
// CI, nothing may be left out.

const missing = missingPostgres()
if (missing && process.env.SKERRY_REQUIRE_SERVICES === '1') {
  console.error(`SKERRY_REQUIRE_SERVICES=1, but there are ${missing}. On Debian: apt-get install postgresql`)
  process.exit(1)
}
if (missing) announce(missing)
const leftOut = missing ? ['--project=!*postgres'] : []
const vitest = fileURLToPath(new URL('../node_modules/vitest/vitest.mjs', import.meta.url))
const { status } = spawnSync(process.execPath, [vitest, 'run', ...leftOut, ...process.argv.slice(2)], {
  stdio: 'inherit',
})
if (missing) announce(missing)
process.exit(status ?? 1)

function announce(reason: string) {
  const line = '='.repeat(100)
  console.error(`${line}\nSKIPPED: every suite on PostgreSQL (${reason}). Debian: apt-get install postgresql\n${line}`)
}
