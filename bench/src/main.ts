import { parseArgs } from 'node:util'
import { missingPostgres, startPostgres } from '../../packages/server/test/services/postgres.ts'
import type { Bench, BenchOnPostgres, Figure } from './figure.ts'
import { figures } from './figures.ts'
import { startLoader } from './loader.ts'
import { say } from './measure.ts'
import { plans } from './plan.ts'

// One line per figure on stdout, `name value`; everything else on stderr.

async function main(): Promise<void> {
  const { values } = parseArgs({
    options: { quick: { type: 'boolean' }, check: { type: 'boolean' }, only: { type: 'string' } },
  })
  const { quick = false, check = false, only } = values
  const asked = only?.split(',')
  const unknown = asked?.filter((name) => !figures.some((figure) => figure.name === name)) ?? []
  if (unknown.length > 0) throw new Error(`no figure ${unknown}: ${figures.map(({ name }) => name).join(', ')}`)
  const chosen = figures.filter(({ name }) => asked?.includes(name) ?? true)
  using loader = startLoader()
  const postgres = await startPostgres({ fsync: true })
  const missed: string[] = []
  try {
    for (const figure of chosen) {
      const met = await report(figure, { plan: quick ? plans.quick : plans.full, loader, postgres }).catch(failed)
      if (!met) missed.push(figure.name)
    }
  } finally {
    await postgres?.dispose()
  }
  if (check && missed.length > 0) {
    say(`missed: ${missed.join(', ')}`)
    process.exitCode = 1
  }
}

const decimals: Record<Figure['unit'], number> = {
  ratio: 2,
  MB: 0,
  requests: 0,
  seconds: 1,
  connections: 0,
  entries: 0,
  ms: 1,
  µs: 0,
}

/** Measures and prints one figure. Returns false if it misses its required value or cannot be measured here. */
async function report(figure: Figure, bench: Bench): Promise<boolean> {
  const { name, unit, required } = figure
  if (figure.needsPostgres && !isOnPostgres(bench)) {
    say(`NOT MEASURED: ${name}, because there are ${missingPostgres()}`)
    return false
  }
  say(`${name} ...`)
  const startedAt = performance.now()
  const value = await figure.measure(bench as BenchOnPostgres)
  process.stdout.write(`${name} ${value.toFixed(decimals[unit])}\n`)
  const [met, wanted] =
    'min' in required
      ? [value >= required.min, `at least ${required.min}`]
      : [value <= required.max, `at most ${required.max}`]
  say(`  took ${Math.round((performance.now() - startedAt) / 1000)} s`)
  say(`  ${wanted}: ${met ? 'met' : 'MISSED'}`)
  return met
}

const isOnPostgres = (bench: Bench): bench is BenchOnPostgres => bench.postgres !== null

/** Reports that a figure failed, so that the other figures are still measured. */
function failed(error: unknown): boolean {
  say(`  FAILED: ${error instanceof Error ? error.stack : error}`)
  process.exitCode = 1
  return false
}

// An exit handler ends the servers, and it does not run when a signal ends this process.
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.once(signal, () => process.exit(1))
await main()
