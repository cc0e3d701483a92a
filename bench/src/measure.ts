import type { Child } from './child.ts'
import type { Bench } from './figure.ts'
import type { Loader, Tunnel } from './loader.ts'

/** A server, and the requests that it gets. */
export interface Target {
  name: string
  server: Child
  requests: string[]
  tunnel?: Tunnel
}

interface Round {
  perSecond: number
  p99Ms: number
  /** The processor time of the server's process for each request. */
  cpuMicrosecondsEach: number
}

/** Our values divided by those of the floor. */
export interface Comparison {
  perSecond: number
  p99: number
}

const usualConnections = 32

/** Prints progress and absolute numbers for people to stderr. Scripts read stdout. */
export const say = (text: string) => void process.stderr.write(`${text}\n`)

/**
 * Measures both servers, and divides our medians by those of the floor. Rounds are short and alternate, so that other
 * load on the machine affects both.
 */
export async function compare(
  bench: Pick<Bench, 'loader' | 'plan'>,
  ours: Target,
  floor: Target,
  connections = usualConnections,
): Promise<Comparison> {
  return comparison(await inTurns(bench, [floor, ours], connections), ours, floor)
}

type RoundsOf = (target: Target) => Round[]

/** Runs rounds of all targets in turns, as often as the plan says -> the rounds of each target, in order. */
export async function inTurns(
  { loader, plan }: Pick<Bench, 'loader' | 'plan'>,
  targets: readonly Target[],
  connections = usualConnections,
): Promise<RoundsOf> {
  const rounds = new Map<Target, Round[]>(targets.map((target) => [target, []]))
  for (const target of targets) await run(loader, target, connections, plan.warmUpMs)
  for (let i = 0; i < plan.rounds; i++)
    for (const target of targets) rounds.get(target)?.push(await run(loader, target, connections, plan.roundMs))
  return (target) => rounds.get(target) ?? []
}

/** Divides our medians by those of the floor, and prints both. */
export function comparison(rounds: RoundsOf, ours: Target, floor: Target): Comparison {
  const oursOf = medians(rounds(ours))
  const floorOf = medians(rounds(floor))
  const ratios = rounds(ours)
    .map((round, index) => round.perSecond / (rounds(floor)[index] as Round).perSecond)
    .sort((a, b) => a - b)
  say(`  ${describe(ours, oursOf)}; ${describe(floor, floorOf)}`)
  const quarter = ratios.length >> 2
  say(
    `  ratio by round: median ${median(ratios).toFixed(2)}, half of them within ${ratios[quarter]?.toFixed(2)} and ` +
      `${ratios.at(-1 - quarter)?.toFixed(2)}; by processor time of the two servers alone ` +
      (floorOf.cpuMicrosecondsEach / oursOf.cpuMicrosecondsEach).toFixed(2),
  )
  return { perSecond: oursOf.perSecond / floorOf.perSecond, p99: oursOf.p99Ms / floorOf.p99Ms }
}

async function run(
  loader: Loader,
  { server, requests, tunnel }: Target,
  connections: number,
  ms: number,
): Promise<Round> {
  const before = await server.cpuMs()
  const { answered, perSecond, p99Ms } = await loader.run({ port: server.port, tunnel, requests, connections, ms })
  const after = await server.cpuMs()
  const cpuMicrosecondsEach = before === null || after === null ? Number.NaN : ((after - before) * 1000) / answered
  return { perSecond, p99Ms, cpuMicrosecondsEach }
}

const medians = (rounds: Round[]): Round => ({
  perSecond: median(rounds.map((round) => round.perSecond)),
  p99Ms: median(rounds.map((round) => round.p99Ms)),
  cpuMicrosecondsEach: median(rounds.map((round) => round.cpuMicrosecondsEach)),
})

const describe = ({ name }: Target, { perSecond, p99Ms, cpuMicrosecondsEach }: Round) =>
  `${name} ${Math.round(perSecond)}/s at ${Math.round(cpuMicrosecondsEach)} µs of processor each, 99 % within ` +
  `${p99Ms.toPrecision(2)} ms`

export function median(values: number[]): number {
  const sorted = values.toSorted((a, b) => a - b)
  const middle = sorted.length >> 1
  const upper = sorted[middle] as number
  return sorted.length % 2 === 1 ? upper : ((sorted[middle - 1] as number) + upper) / 2
}
