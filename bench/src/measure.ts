import type { Child } from './child.ts'
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
  full: { rounds: 31, roundMs: 1000, warmUpMs: 4000, idleMs: 10_000, secretCount: 1_000_000 },
  quick: { rounds: 15, roundMs: 250, warmUpMs: 1200, idleMs: 5000, secretCount: 200_000 },
} satisfies Record<string, Plan>

/** What is asked, of whom. */
export interface Target {
  name: string
  server: Child
  requests: string[]
}

interface Round {
  perSecond: number
  /** Of the server's own process. */
  cpuMicrosecondsEach: number
}

const connections = 32

/** Progress and absolute numbers: people read them, scripts read stdout. */
export const say = (text: string) => void process.stderr.write(`${text}\n`)

/**
 * Ours over the floor's requests per second, as the ratio of their medians. Rounds are short and alternate, so that
 * whatever else the machine does meanwhile happens to both.
 */
export async function compare(loader: Loader, plan: Plan, ours: Target, floor: Target): Promise<number> {
  for (const target of [floor, ours]) await run(loader, target, plan.warmUpMs)
  const rounds: { ours: Round; floor: Round }[] = []
  for (let i = 0; i < plan.rounds; i++)
    rounds.push({ floor: await run(loader, floor, plan.roundMs), ours: await run(loader, ours, plan.roundMs) })
  const oursOf = medians(rounds.map((round) => round.ours))
  const floorOf = medians(rounds.map((round) => round.floor))
  const ratios = rounds.map((round) => round.ours.perSecond / round.floor.perSecond).sort((a, b) => a - b)
  say(`  ${describe(ours, oursOf)}; ${describe(floor, floorOf)}`)
  const quarter = ratios.length >> 2
  say(
    `  ratio by round: median ${median(ratios).toFixed(2)}, half of them within ${ratios[quarter]?.toFixed(2)} and ` +
      `${ratios.at(-1 - quarter)?.toFixed(2)}; by processor time of the two servers alone ` +
      (floorOf.cpuMicrosecondsEach / oursOf.cpuMicrosecondsEach).toFixed(2),
  )
  return oursOf.perSecond / floorOf.perSecond
}

async function run(loader: Loader, { server, requests }: Target, ms: number): Promise<Round> {
  const before = await server.cpuMs()
  const { answered, perSecond } = await loader.run({ port: server.port, requests, connections, ms })
  const after = await server.cpuMs()
  const cpuMicrosecondsEach = before === null || after === null ? Number.NaN : ((after - before) * 1000) / answered
  return { perSecond, cpuMicrosecondsEach }
}

const medians = (rounds: Round[]): Round => ({
  perSecond: median(rounds.map((round) => round.perSecond)),
  cpuMicrosecondsEach: median(rounds.map((round) => round.cpuMicrosecondsEach)),
})

const describe = ({ name }: Target, { perSecond, cpuMicrosecondsEach }: Round) =>
  `${name} ${Math.round(perSecond)}/s at ${Math.round(cpuMicrosecondsEach)} µs of processor each`

function median(values: number[]): number {
  const sorted = values.toSorted((a, b) => a - b)
  const middle = sorted.length >> 1
  const upper = sorted[middle] as number
  return sorted.length % 2 === 1 ? upper : ((sorted[middle - 1] as number) + upper) / 2
}
