import { writeFileSync } from 'node:fs'
import type { Reporter, SerializedError, TestModule } from 'vitest/node'
import { isQuick } from '../packages/server/test/extent.ts'
import { findSlower, readSeconds, type SuiteTime, writeSeconds } from './suite-seconds.ts'

/** The totals of a run. An error outside of every test, as in a file that does not load, counts as a failure. */
export interface Totals {
  passed: number
  failed: number
  skipped: number
}

const slowestCount = 10

/** Writes the totals of a run to a file for scripts/test.ts. Prints the slowest suites, and those that have become slower. */
export class TotalsReporter implements Reporter {
  readonly #totalsFile: string

  constructor(totalsFile: string) {
    this.#totalsFile = totalsFile
  }

  onTestRunEnd(modules: readonly TestModule[], unhandled: readonly SerializedError[]): void {
    const suites = modules.map((module) => ({ name: nameOf(module), seconds: secondsOf(module) }))
    const sum = suites.reduce((total, { seconds }) => total + seconds, 0)
    const slowest = suites.toSorted((a, b) => b.seconds - a.seconds).slice(0, slowestCount)
    print(`The slowest of ${suites.length} files, which took ${sum.toFixed(0)} s together:`, slowest.map(lineOf))
    // The seconds are those of `npm test`. In `npm run test:all` some of these suites make more rounds.
    const slower = isQuick ? findSlower(suites, readSeconds()) : []
    if (slower.length > 0)
      print(
        'These suites took at least half as long again as recorded in scripts/suite-seconds.json:',
        slower.map((suite) => `${lineOf(suite)}, recorded ${suite.recorded} s`),
      )
    if (process.env.SKERRY_WRITE_SECONDS === '1') writeSeconds(suites)
    writeFileSync(this.#totalsFile, JSON.stringify(totalsOf(modules, unhandled.length)))
  }
}

const print = (title: string, lines: string[]) => process.stdout.write(`\n${title}\n${lines.join('\n')}\n`)
const lineOf = ({ name, seconds }: SuiteTime) => `${seconds.toFixed(1).padStart(7)} s  ${name}`
const nameOf = (module: TestModule) => `${module.project.name}  ${module.relativeModuleId}`

function secondsOf(module: TestModule): number {
  const { collectDuration, setupDuration, duration } = module.diagnostic()
  return (collectDuration + setupDuration + duration) / 1000
}

function totalsOf(modules: readonly TestModule[], unhandled: number): Totals {
  const totals = { passed: 0, failed: unhandled, skipped: 0 }
  for (const module of modules) {
    for (const test of module.children.allTests()) {
      const { state } = test.result()
      // A test that is still pending at the end was aborted.
      totals[state === 'pending' ? 'failed' : state]++
    }
    totals.failed += module.errors().length
    for (const suite of module.children.allSuites()) totals.failed += suite.errors().length
  }
  return totals
}
