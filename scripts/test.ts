import { spawnSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { missingChromium } from '../packages/dashboard/test/browser.ts'
import { missingPostgres } from '../packages/server/test/services/postgres.ts'

// Runs every suite that this machine can run, and says loudly what it left out. With SKERRY_REQUIRE_SERVICES=1, as in
// CI, nothing may be left out.

/** What a machine may lack, and the suites that need it. */
const services = [
  {
    missing: missingPostgres(),
    suites: 'every suite on PostgreSQL',
    leaveOut: '--project=!*postgres',
    install: 'apt-get install postgresql',
  },
  {
    missing: missingChromium(),
    suites: 'every suite in a browser',
    leaveOut: '--project=!browser*',
    install: 'apt-get install chromium',
  },
]
const lacking = services.filter(({ missing }) => missing !== undefined)
if (lacking.length > 0 && process.env.SKERRY_REQUIRE_SERVICES === '1') {
  for (const { missing, install } of lacking)
    console.error(`SKERRY_REQUIRE_SERVICES=1, and: ${missing}. On Debian: ${install}`)
  process.exit(1)
}
announce()
const leftOut = lacking.map(({ leaveOut }) => leaveOut)
const vitest = fileURLToPath(new URL('../node_modules/vitest/vitest.mjs', import.meta.url))
const { status } = spawnSync(process.execPath, [vitest, 'run', ...leftOut, ...process.argv.slice(2)], {
  stdio: 'inherit',
})
announce()
process.exit(status ?? 1)

function announce() {
  const line = '='.repeat(100)
  for (const { missing, suites, install } of lacking)
    console.error(`${line}\nSKIPPED: ${suites} (${missing}). Debian: ${install}\n${line}`)
}
