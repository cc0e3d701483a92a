import { setTimeout as sleep } from 'node:timers/promises'
import { startServer } from '../child.ts'
import { each } from '../each.ts'
import { type BenchOnPostgres, onDatabase } from '../figure.ts'
import {
  type LeaseTarget,
  type Mint,
  mintingSettings,
  newAccount,
  openMints,
  openTarget,
  targetAdmin,
} from '../lease-target.ts'
import { say } from '../measure.ts'

// The time until accounts are removed from PostgreSQL after their leases end: one alone, five hundred together, and one
// whose lease ends while the server is down. The shortest lease lives for a minute, so a quick run takes as long.

interface Outcome {
  aloneSeconds: number
  togetherSeconds: number
  connections: number
  afterDowntimeSeconds: number
}

const together = 500
const lookMs = 20
const giveUpMs = 180_000

/** Counted from the first mint. The first gap leaves time to mint the five hundred, the second one to end them. */
const endsAfterMs = { alone: 60_000, together: 100_000, last: 165_000 }

export const leaseEnd = async (bench: BenchOnPostgres) => (await once(bench)).aloneSeconds
export const leaseEndTogether = async (bench: BenchOnPostgres) => (await once(bench)).togetherSeconds
export const leaseEndConnections = async (bench: BenchOnPostgres) => (await once(bench)).connections
export const leaseEndAfterDowntime = async (bench: BenchOnPostgres) => (await once(bench)).afterDowntimeSeconds

/** Measured once, for four figures. */
let measured: Promise<Outcome> | undefined
const once = (bench: BenchOnPostgres): Promise<Outcome> => (measured ??= measure(bench))

async function measure({ postgres }: BenchOnPostgres): Promise<Outcome> {
  await using target = await openTarget()
  const settings = { ...onDatabase(await postgres.createDatabase('lease_end')), ...mintingSettings }
  const { last, ...seen } = await endWhileUp(target, settings)
  await sleep(Math.max(0, last.endsAt - Date.now()) + 1000)
  await using _back = await startServer(settings)
  const { seconds } = await gone(target, { ...last, endsAt: Date.now() })
  say(
    `  gone after ${seen.aloneSeconds.toFixed(1)} s alone, ${seconds.toFixed(1)} s after downtime; ${together} together ` +
      `after ${seen.togetherSeconds.toFixed(1)} s over ${seen.connections} connections`,
  )
  return { ...seen, afterDowntimeSeconds: seconds }
}

/** Measures the first two ends. The third one comes after the server has stopped. */
async function endWhileUp(target: LeaseTarget, settings: Record<string, string>) {
  await using server = await startServer(settings)
  const [mint] = (await openMints(server.url, [target])) as [Mint]
  const startedAt = Date.now()
  const mintUntil = async (ms: number): Promise<Minted> => {
    const account = await newAccount()
    const endsAt = await mint(account, Math.round((startedAt + ms - Date.now()) / 1000))
    return { names: [account.name], endsAt }
  }
  const alone = await mintUntil(endsAfterMs.alone)
  const last = await mintUntil(endsAfterMs.last)
  const all: Minted = { names: [], endsAt: 0 }
  await each(together, async () => {
    const { names, endsAt } = await mintUntil(endsAfterMs.together)
    all.names.push(...names)
    all.endsAt = Math.max(all.endsAt, endsAt)
  })
  const { seconds: aloneSeconds } = await gone(target, alone)
  const { seconds: togetherSeconds, connections } = await gone(target, all)
  return { last, aloneSeconds, togetherSeconds, connections }
}

interface Minted {
  names: string[]
  /** In milliseconds since 1970. */
  endsAt: number
}

/** Waits until the accounts are gone -> the time since their end, and the most connections that were open meanwhile. */
async function gone(
  { root }: LeaseTarget,
  { names, endsAt }: Minted,
): Promise<{ seconds: number; connections: number }> {
  let connections = 0
  while (Date.now() < endsAt + giveUpMs) {
    const { rows } = await root.query<{ accounts: number; connections: number }>(
      `SELECT (SELECT count(*)::int FROM pg_roles WHERE rolname = ANY($1)) AS accounts,
              (SELECT count(*)::int FROM pg_stat_activity WHERE usename = $2) AS connections`,
      [names, targetAdmin.user],
    )
    const [seen] = rows
    connections = Math.max(connections, seen?.connections ?? 0)
    if (seen?.accounts === 0) return { seconds: (Date.now() - endsAt) / 1000, connections }
    await sleep(lookMs)
  }
  throw new Error(`accounts are on the target ${giveUpMs / 1000} s after their end`)
}
