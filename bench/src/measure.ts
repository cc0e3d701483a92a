import type { Loader } from './loader.ts'

/** How long and how often. */
export interface Plan {
  rounds: number
  roundMs: number
  warmUpMs: number
  idleMs: number
  /** Of the large database. */
  secretCount: number
}

export const plans = {
  full: { rounds: 9, roundMs: 3000, warmUpMs: 4000, idleMs: 10_000, secretCount: 1_000_000 },
  quick: { rounds: 5, roundMs: 900, warmUpMs: 1500, idleMs: 5000, secretCount: 200_000 },
} satisfies Record<string, Plan>

/** What is asked, of whom. */
export interface Target {
  name: string
  port: number
  requests: string[]
}

export const connections = 32

/** Progress and absolute numbers: people read them, scripts read stdout. */
export const say = (text: string) => void process.stderr.write(`${text}\n`)

/**
 * Ours over the floor's requests per second, as the ratio of their medians. Rounds alternate, so that whatever else the
 * machine does meanwhile happens to both.
 */
export async function compare(loader: Loader, plan: Plan, ours: Target, floor: Target): Promise<number> {
  const run = async ({ port, requests }: Target, ms: number) =>
    (await loader.run({ port, requests, connections, ms })).perSecond
  for (const target of [floor, ours]) await run(target, plan.warmUpMs)
  const rates: { ours: number; floor: number }[] = []
  for (let round = 0; round < plan.rounds; round++)
    rates.push({ floor: await run(floor, plan.roundMs), ours: await run(ours, plan.roundMs) })
  const ourMedian = median(rates.map((rate) => rate.ours))
  const floorMedian = median(rates.map((rate) => rate.floor))
  const ratios = rates.map((rate) => rate.ours / rate.floor)
  say(
    `  ${ours.name} ${Math.round(ourMedian)}/s, ${floor.name} ${Math.round(floorMedian)}/s; ` +
      `ratio by round ${Math.min(...ratios).toFixed(2)} to ${Math.max(...ratios).toFixed(2)}`,
  )
  return ourMedian / floorMedian
}

export function median(values: number[]): number {
  const sorted = values.toSorted((a, b) => a - b)
  const middle = sorted.length >> 1
  const upper = sorted[middle] as number
  return sorted.length % 2 === 1 ? upper : ((sorted[middle - 1] as number) + upper) / 2
}
