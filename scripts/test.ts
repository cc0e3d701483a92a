import { spawnSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { missingChromium } from '../packages/dashboard/test/browser.ts'
import { missingHaproxy } from '../packages/server/test/services/haproxy.ts'
import { missingPostgres } from '../packages/server/test/services/postgres.ts'
import type { Totals } from './test-reporter.ts'

// Runs the suites of vitest.config.ts that this machine can run, all of them or the quick ones, and prints in large
// blocks which suites it skipped. With SKERRY_REQUIRE_SERVICES=1, as in CI, it may skip none.
//
//   node scripts/test.ts quick|all [options of vitest]

const [extent, ...options] = process.argv.slice(2)
if (extent !== 'quick' && extent !== 'all') throw new Error('say which suites: quick or all')

/** Services that a machine may lack, and the suites that need them. */
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
  {
    missing: extent === 'all' ? missingHaproxy() : undefined,
    suites: 'the suite of failovers',
    leaveOut: '--exclude=**/failover.long.test.ts',
    install: 'apt-get install haproxy',
  },
]

const lacking = services.filter(({ missing }) => missing !== undefined)
if (lacking.length > 0 && process.env.SKERRY_REQUIRE_SERVICES === '1') {
  for (const { missing, install } of lacking)
    console.error(`SKERRY_REQUIRE_SERVICES=1, and: ${missing}. On Debian: ${install}`)
  process.exit(1)
}

announce()
const { status, totals } = run()
announce()
// The last line of every run, for programs that read only the end.
console.log(`${totals.passed} passed, ${totals.failed} failed, ${totals.skipped} skipped`)
process.exit(status)

function run(): { status: number; totals: Totals } {
  const vitest = fileURLToPath(new URL('../node_modules/vitest/vitest.mjs', import.meta.url))
  const folder = mkdtempSync(join(tmpdir(), 'skerry-totals-'))
  const file = join(folder, 'totals.json')
  const args = [vitest, 'run', ...lacking.map(({ leaveOut }) => leaveOut), ...options]
  const env = { ...process.env, SKERRY_TESTS: extent, SKERRY_TEST_TOTALS: file }
  const { status } = spawnSync(process.execPath, args, { stdio: 'inherit', env })
  const totals = readTotals(file)
  rmSync(folder, { recursive: true })
  if (status === 0 && totals) return { status, totals }
  // If something other than a test failed, the totals do not contain it, so at least one failure is reported.
  const { passed, failed, skipped } = totals ?? { passed: 0, failed: 0, skipped: 0 }
  return { status: status || 1, totals: { passed, failed: Math.max(failed, 1), skipped } }
}

/** Returns undefined if vitest ended before it wrote the totals. */
function readTotals(file: string): Totals | undefined {
  try {
    return JSON.parse(readFileSync(file, 'utf8'))
  } catch {
    return undefined
  }
}

function announce() {
  const line = '='.repeat(100)
  for (const { missing, suites, install } of lacking)
    console.error(`${line}\nSKIPPED: ${suites} (${missing}). Debian: ${install}\n${line}`)
}
