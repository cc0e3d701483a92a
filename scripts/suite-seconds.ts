import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

// The seconds of each suite on an idle machine with two cores. `SKERRY_WRITE_SECONDS=1 npm test` records them anew.

const file = join(import.meta.dirname, 'suite-seconds.json')

/** A suite on one engine, named `<project>  <path>`. */
export interface SuiteTime {
  name: string
  seconds: number
}

/** Shorter suites vary too much to say anything. */
const leastSeconds = 5
const factor = 1.5

export const readSeconds = (): Record<string, number> =>
  existsSync(file) ? (JSON.parse(readFileSync(file, 'utf8')) as Record<string, number>) : {}

/** A run of some suites keeps what is recorded of the others. */
export function writeSeconds(suites: readonly SuiteTime[]): void {
  const measured = suites.map(({ name, seconds }) => [name, Math.round(seconds * 10) / 10] as const)
  const all = Object.entries({ ...readSeconds(), ...Object.fromEntries(measured) })
  writeFileSync(file, `${JSON.stringify(Object.fromEntries(all.sort(([a], [b]) => (a < b ? -1 : 1))), null, 2)}\n`)
}

/**
 * The suites that took at least half as long again as recorded. A slow machine is slow in every suite, so the times are divided by
 * the median ratio of the run.
 */
export function findSlower(
  suites: readonly SuiteTime[],
  recorded: Record<string, number>,
): (SuiteTime & { recorded: number })[] {
  const known = suites.flatMap((suite) => {
    const seconds = recorded[suite.name]
    return seconds === undefined || seconds < leastSeconds ? [] : [{ ...suite, recorded: seconds }]
  })
  const ratios = known.map(({ seconds, recorded: before }) => seconds / before).sort((a, b) => a - b)
  const median = Math.max(1, ratios[Math.floor(ratios.length / 2)] ?? 1)
  return known.filter(({ seconds, recorded: before }) => seconds >= factor * median * before)
}
