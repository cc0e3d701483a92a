import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Sql } from '../../../packages/server/src/db/database.ts'
import { openDatabase } from '../../../packages/server/src/db/open.ts'
import { type Child, startServer } from '../child.ts'
import { type Bench, type BenchOnPostgres, onDatabase } from '../figure.ts'
import { median, say } from '../measure.ts'
import { makeTenant, newCiphertext, request, type Tenant, usualSecrets } from '../tenant.ts'

// An export of one organization with a million versions. Measures the peak memory of the server, and the rate of cached
// resolves during the export, divided by the rate without it.

interface Outcome {
  peakMb: number
  ofRate: number
}

const connections = 16
const aloneRounds = 6
const lookMs = 100

export const exportMemoryPostgres = async (bench: BenchOnPostgres) => (await onPostgres(bench)).peakMb
export const exportOthersPostgres = async (bench: BenchOnPostgres) => (await onPostgres(bench)).ofRate
export const exportMemoryEmbedded = async (bench: Bench) => (await onEmbedded(bench)).peakMb
export const exportOthersEmbedded = async (bench: Bench) => (await onEmbedded(bench)).ofRate

/** Each engine is measured once, for two figures. */
const measured = new Map<string, Promise<Outcome>>()
function once(engine: string, work: () => Promise<Outcome>): Promise<Outcome> {
  const known = measured.get(engine) ?? work()
  measured.set(engine, known)
  return known
}

const onPostgres = (bench: BenchOnPostgres) =>
  once('postgres', async () => {
    const databaseUrl = await bench.postgres.createDatabase('export')
    return await measure(bench, { databaseUrl, dataDir: '' }, onDatabase(databaseUrl))
  })

const onEmbedded = (bench: Bench) =>
  once('embedded', async () => {
    const dataDir = await mkdtemp(join(tmpdir(), 'skerry-bench-export-'))
    try {
      return await measure(bench, { dataDir }, { SKERRY_DATA_DIR: dataDir })
    } finally {
      await rm(dataDir, { recursive: true })
    }
  })

async function measure(
  bench: Bench,
  place: { databaseUrl?: string; dataDir: string },
  settings: Record<string, string>,
): Promise<Outcome> {
  const tenant = await prepare(settings)
  const db = await openDatabase(place, { info: () => {}, warn: say, error: say })
  await addVersions(db, tenant, bench.plan.secretCount)
  await db.close()
  await using server = await startServer(settings)
  const rate = async (ms: number) => (await bench.loader.run(job(server, tenant, ms))).perSecond
  const several = async () => {
    const found: number[] = []
    while (found.length < aloneRounds) found.push(await rate(bench.plan.roundMs))
    return found
  }
  await rate(bench.plan.warmUpMs)
  const before = await several()
  const exporting = takeArchive(server, tenant)
  const rates: number[] = []
  const watching = watch(server, exporting.isDone)
  while (!exporting.isDone()) rates.push(await rate(bench.plan.roundMs))
  const { bytes, ms } = await exporting.ended
  const peakMb = await watching
  // Measured before and after the export, because other load on the machine changes.
  const alone = median([...before, ...(await several())])
  const beside = rates.slice(0, -1).reduce((sum, one) => sum + one, 0) / Math.max(1, rates.length - 1)
  say(
    `  ${bench.plan.secretCount} versions, ${(bytes / 1e6).toFixed(0)} MB in ${(ms / 1000).toFixed(1)} s: ${((bench.plan.secretCount / ms) * 1000).toFixed(0)} rows/s, ${peakMb.toFixed(0)} MB at most`,
  )
  say(`  resolve ${alone.toFixed(0)}/s alone, ${beside.toFixed(0)}/s beside it`)
  return { peakMb, ofRate: beside / alone }
}

async function prepare(settings: Record<string, string>): Promise<Tenant> {
  await using server = await startServer(settings)
  return await makeTenant(server.url, usualSecrets)
}

const batch = 50_000

/** Inserts versions of one secret of the tenant, by SQL. */
async function addVersions(db: Sql, { orgId }: Tenant, count: number): Promise<void> {
  for (let from = 0; from < count; from += batch)
    await db.rows(
      `insert into secret_versions (org_id, secret_id, version, ciphertext, created_by_type, created_by_id, created_at)
       select org_id, id, n, $4 || n, 'service_token', 'skt_0', now()
         from (select org_id, id from secrets where org_id = $1 order by id limit 1) s, generate_series($2::int, $3::int) n`,
      [orgId, from + 1000, Math.min(count, from + batch) + 999, newCiphertext().slice(0, -8)],
    )
}

const job = ({ port }: Child, { environmentId, member }: Tenant, ms: number) => ({
  port,
  connections,
  ms,
  requests: [request('GET', `/v1/resolve?env=${environmentId}`, member.bearer)],
})

/** Downloads the archive and discards it. */
function takeArchive({ url }: Child, { orgId, admin }: Tenant) {
  let done = false
  const take = async () => {
    const began = performance.now()
    const headers = { authorization: `Bearer ${admin.bearer}` }
    const answer = await fetch(`${url}/v1/orgs/${orgId}/export`, { method: 'POST', headers })
    let bytes = 0
    for await (const piece of answer.body ?? []) bytes += piece.length
    if (!answer.ok) throw new Error(`the export was answered with ${answer.status}`)
    return { bytes, ms: performance.now() - began }
  }
  const ended = take().finally(() => {
    done = true
  })
  return { ended, isDone: () => done }
}

async function watch(server: Child, isDone: () => boolean): Promise<number> {
  let peak = 0
  while (!isDone()) {
    peak = Math.max(peak, await server.residentMb())
    await sleep(lookMs)
  }
  return peak
}
