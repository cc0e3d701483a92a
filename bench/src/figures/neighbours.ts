import { setTimeout as sleep } from 'node:timers/promises'
import type { Database } from '../../../packages/server/src/db/database.ts'
import { type Child, startServer } from '../child.ts'
import { type BenchOnPostgres, onDatabase, withServerKey } from '../figure.ts'
import { median, say } from '../measure.ts'
import { makeTenant, newCiphertext, request, secretName, type Tenant, usualSecrets } from '../tenant.ts'
import { addEntries, openTrail, untilSealed } from '../trail.ts'

// One organization with an audit log of a million entries sends as many of its heaviest requests as it can. Measures
// the rate at which the server answers another organization meanwhile, from the cache and from the database, divided by
// its usual rate.

interface Outcome {
  cached: number
  uncached: number
}

/** The number of simultaneous requests of the greedy organization. */
const greedyAtOnce = 48
/** The pause that the rate limit of a token, 200 a second, would force on it. The limit is off here. */
const greedyPauseMs = (1000 * greedyAtOnce) / 200
const connections = 16
const versions = 200
const versionBytes = 100_000

let measured: Promise<Outcome> | undefined
const once = (bench: BenchOnPostgres) => {
  measured ??= measure(bench)
  return measured
}
export const besideHeavyReadsCached = async (bench: BenchOnPostgres) => (await once(bench)).cached
export const besideHeavyReadsUncached = async (bench: BenchOnPostgres) => (await once(bench)).uncached

async function measure({ plan, loader, postgres }: BenchOnPostgres): Promise<Outcome> {
  const databaseUrl = await postgres.createDatabase('neighbours')
  await using server = await startServer({ ...onDatabase(databaseUrl), ...withServerKey })
  const greedy = await makeTenant(server.url, usualSecrets)
  const other = await makeTenant(server.url, usualSecrets)
  const db = await openTrail(databaseUrl)
  await fill(db, greedy, plan.secretCount)
  await db.close()
  const loads = {
    cached: request('GET', `/v1/resolve?env=${other.environmentId}`, other.member.bearer),
    uncached: request('GET', `/v1/orgs/${other.orgId}/apps`, other.admin.bearer),
  }
  const rate = async (load: keyof typeof loads, ms = plan.roundMs) =>
    (await loader.run({ port: server.port, connections, ms, requests: [loads[load]] })).perSecond
  const rounds = async () => {
    const found = { cached: [] as number[], uncached: [] as number[] }
    for (let round = 0; round < plan.rounds; round++)
      for (const load of ['cached', 'uncached'] as const) found[load].push(await rate(load))
    return { cached: median(found.cached), uncached: median(found.uncached) }
  }
  await rate('cached', plan.warmUpMs)
  await rate('uncached', plan.warmUpMs)
  const before = await rounds()
  const pressing = press(server, greedy)
  const beside = await rounds()
  say(`  of the greedy one meanwhile: ${await pressing.stop()}`)
  const after = await rounds()
  const ratioOf = (load: keyof typeof loads) => {
    const alone = (before[load] + after[load]) / 2
    say(`  ${load} ${alone.toFixed(0)}/s alone, ${beside[load].toFixed(0)}/s beside them`)
    return beside[load] / alone
  }
  return { cached: ratioOf('cached'), uncached: ratioOf('uncached') }
}

/** Inserts a long audit log and long versions of a secret, and waits until the log is sealed. */
async function fill(db: Database, { orgId, environmentId }: Tenant, entries: number): Promise<void> {
  await addEntries(db, orgId, entries)
  await db.rows(
    `insert into secret_versions (org_id, secret_id, version, ciphertext, created_by_type, created_by_id, created_at)
     select org_id, id, n, $4 || n, 'service_token', 'skt_0', now()
       from secrets, generate_series(1000, 999 + $3::int) n
      where org_id = $1 and environment_id = $2 and name = '${historyName}'`,
    [orgId, environmentId, versions, newCiphertext() + 'A'.repeat(versionBytes)],
  )
  await untilSealed(db)
  await db.script('vacuum analyze')
}

const historyName = secretName(usualSecrets - 1)

function heaviestOf({ orgId, environmentId }: Tenant): [method: string, path: string][] {
  const at = `/v1/orgs/${orgId}`
  return [
    ['GET', `${at}/audit?text=zzzz`],
    ['GET', `${at}/audit?action=org.created`],
    ['GET', `${at}/audit/timeline?text=zzzz`],
    ['GET', `${at}/audit/leaves?limit=1000`],
    ['GET', `${at}/audit/proof/consistency?from=1`],
    ['GET', `${at}/envs/${environmentId}/secrets/${historyName}/versions?limit=200`],
    ['GET', `${at}/envs/${environmentId}/secrets`],
    ['GET', `${at}/billing`],
    ['POST', `${at}/export`],
  ]
}

/** Sends requests again and again. `stop` returns how often each status was answered. */
function press({ url }: Child, greedy: Tenant) {
  const headers = { authorization: `Bearer ${greedy.admin.bearer}` }
  const stopping = new AbortController()
  const statuses = new Map<number, number>()
  const requests = heaviestOf(greedy)
  const loop = async (first: number) => {
    for (let at = first; !stopping.signal.aborted; at++) {
      const [method, path] = requests[at % requests.length] as (typeof requests)[number]
      const beganMs = performance.now()
      const answer = await fetch(url + path, { method, headers, signal: stopping.signal })
      for await (const _ of answer.body ?? []) if (stopping.signal.aborted) break
      statuses.set(answer.status, (statuses.get(answer.status) ?? 0) + 1)
      await sleep(Math.max(0, greedyPauseMs - (performance.now() - beganMs)))
    }
  }
  const loops = Array.from({ length: greedyAtOnce }, (_, n) =>
    loop(n).catch((error: Error) => {
      if (!stopping.signal.aborted) throw error
    }),
  )
  return {
    stop: async () => {
      stopping.abort()
      await Promise.all(loops)
      return [...statuses].map(([status, count]) => `${count} times ${status}`).join(', ')
    },
  }
}
