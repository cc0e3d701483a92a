import { writeFileSync } from 'node:fs'
import type { Reporter, SerializedError, TestModule } from 'vitest/node'

/** The totals of a run. An error outside of every test, as in a file that does not load, counts as a failure. */
export interface Totals {
  passed: number
  failed: number
  skipped: number
}

const slowestCount = 10

/** Prints the slowest files of a run, and writes its totals to a file, for scripts/test.ts. */
export class TotalsReporter implements Reporter {
  readonly #totalsFile: string

  constructor(totalsFile: string) {
    this.#totalsFile = totalsFile
  }

  onTestRunEnd(modules: readonly TestModule[], unhandled: readonly SerializedError[]): void {
    const slowest = modules
      .map((module) => ({ module, seconds: secondsOf(module) }))
      .sort((a, b) => b.seconds - a.seconds)
      .slice(0, slowestCount)
    const sum = modules.reduce((seconds, module) => seconds + secondsOf(module), 0)
    const lines = slowest.map(
      ({ module, seconds }) =>
        `${seconds.toFixed(1).padStart(7)} s  ${module.project.name}  ${module.relativeModuleId}`,
    )
    process.stdout.write(`\nThe slowest of ${modules.length} files, which took ${sum.toFixed(0)} s together:\n`)
    process.stdout.write(`${lines.join('\n')}\n`)
    writeFileSync(this.#totalsFile, JSON.stringify(totalsOf(modules, unhandled.length)))
  }
}

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
