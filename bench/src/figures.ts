import { randomBytes } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import type { PostgresService } from '../../packages/server/test/services/postgres.ts'
import { type Child, startFlags, startFloor, startServer } from './child.ts'
import type { Loader } from './loader.ts'
import { compare, type Plan, say } from './measure.ts'
import { populate, secretsPerOrg } from './population.ts'
import { makeTenant, newCiphertext, request, secretName } from './tenant.ts'

/** What figures are measured with. */
export interface Bench {
  plan: Plan
  loader: Loader
  /** Of this run's own, with fsync; null where the machine has none. */
  postgres: PostgresService | null
}

export interface Figure {
  name: string
  needsPostgres: boolean
  /** The floor of a ratio, or the ceiling of megabytes. */
  required: { min: number } | { max: number }
  measure: (bench: Bench) => Promise<number>
}

// Each figure awaits what it returns: its servers end with its block.

const poolSize = 10
const secretCount = 20
const withoutCache = { SKERRY_RESOLVE_CACHE_MB: '0' }

export const figures: Figure[] = [
  { name: 'resolve_cached', needsPostgres: false, required: { min: 0.7 }, measure: resolveCached },
  { name: 'auth_share', needsPostgres: true, required: { min: 0.9 }, measure: authShare },
  { name: 'resolve_uncached', needsPostgres: true, required: { min: 0.5 }, measure: resolveUncached },
  { name: 'secret_put', needsPostgres: true, required: { min: 0.4 }, measure: secretPut },
  { name: 'resolve_at_1M_secrets', needsPostgres: true, required: { min: 0.8 }, measure: resolveAtOneMillion },
  { name: 'idle_memory_mb_embedded', needsPostgres: false, required: { max: 250 }, measure: idleMemoryEmbedded },
  { name: 'idle_memory_mb_postgres', needsPostgres: true, required: { max: 130 }, measure: idleMemoryPostgres },
]

async function resolveCached({ plan, loader, postgres }: Bench): Promise<number> {
  const settings: Record<string, string> = postgres ? settingsOf(await postgres.createDatabase('resolve_cached')) : {}
  await using server = await startServer(settings)
  const { environmentId, member } = await makeTenant(server.url, secretCount)
  const path = `/v1/resolve?env=${environmentId}`
  const answer = await get(server.url + path, member.bearer)
  await using floor = await startFloor('fixed', answer)
  assertSame(answer, await get(floor.url + path, member.bearer))
  const requests = [request('GET', path, member.bearer)]
  return await compare(
    loader,
    plan,
    { name: 'resolve', requests, server },
    { name: 'fixed bytes', requests, server: floor },
  )
}

/** What is left of the rate of cached resolve when Skerry also asks who is there. */
async function authShare({ plan, loader, postgres }: Bench): Promise<number> {
  const settings = {
    ...settingsOf(await (postgres as PostgresService).createDatabase('auth_share')),
    SKERRY_SERVER_KEY: randomBytes(32).toString('base64url'),
    SKERRY_RATE_LIMITS: 'off',
  }
  await using server = await startFloor('unauthenticated', { settings }, startFlags)
  const { environmentId, member } = await makeTenant(server.url, secretCount)
  const paths = ['resolve', 'unauthenticated'].map((name) => `/v1/${name}?env=${environmentId}`)
  const [ours, floor] = await Promise.all(paths.map((path) => get(server.url + path, member.bearer)))
  assertSame(ours as Sent, floor as Sent)
  const [withToken, without] = paths.map((path) => [request('GET', path, member.bearer)])
  return await compare(
    loader,
    plan,
    { name: 'with authentication', requests: withToken as string[], server },
    { name: 'without', requests: without as string[], server },
  )
}

async function resolveUncached({ plan, loader, postgres }: Bench): Promise<number> {
  const databaseUrl = await (postgres as PostgresService).createDatabase('resolve_uncached')
  await using server = await startServer({ ...settingsOf(databaseUrl), ...withoutCache })
  const { environmentId, member } = await makeTenant(server.url, secretCount)
  await using floor = await startFloor('query', { databaseUrl, poolSize, principalId: member.id })
  const path = `/v1/resolve?env=${environmentId}`
  assertSame(await get(server.url + path, member.bearer), await get(floor.url + path, member.bearer))
  const requests = [request('GET', path, member.bearer)]
  return await compare(
    loader,
    plan,
    { name: 'resolve', requests, server },
    { name: 'one query', requests, server: floor },
  )
}

/** Half of the names are new, half get another version. */
async function secretPut({ plan, loader, postgres }: Bench): Promise<number> {
  const databaseUrl = await (postgres as PostgresService).createDatabase('secret_put')
  await using server = await startServer(settingsOf(databaseUrl))
  const { orgId, environmentId, admin } = await makeTenant(server.url, 200)
  const floorUrl = await (postgres as PostgresService).createDatabase('secret_put_floor')
  await using floor = await startFloor('insert', { databaseUrl: floorUrl, poolSize })
  // A slow path gets hot slowly.
  const patient = { ...plan, warmUpMs: plan.warmUpMs * 3 }
  const requests = Array.from({ length: 190 }, (_, i) => [secretName(i + 10), `NEW_${i}_{unique}`])
    .flat()
    .map((name) => `/v1/orgs/${orgId}/envs/${environmentId}/secrets/${name}`)
    .map((path) => request('PUT', path, admin.bearer, { ciphertext: newCiphertext() }))
  return await compare(
    loader,
    patient,
    { name: 'put', requests, server },
    { name: 'one insert', requests, server: floor },
  )
}

async function resolveAtOneMillion({ plan, loader, postgres }: Bench): Promise<number> {
  if (plan.secretCount < 1_000_000) say(`  with only ${plan.secretCount} secrets: this run is to be quick`)
  const start = async (name: string, count: number) => {
    const databaseUrl = await (postgres as PostgresService).createDatabase(name)
    const server = await startServer({ ...settingsOf(databaseUrl), ...withoutCache })
    const requests = await populate(databaseUrl, count, 20_000)
    const target = { name: `with ${count} secrets`, server, requests }
    return { target, [Symbol.asyncDispose]: () => server[Symbol.asyncDispose]() }
  }
  await using small = await start('secrets_small', secretsPerOrg)
  await using large = await start('secrets_large', plan.secretCount)
  return await compare(loader, plan, large.target, small.target)
}

async function idleMemoryPostgres({ plan, postgres }: Bench): Promise<number> {
  return idleMemory(plan, settingsOf(await (postgres as PostgresService).createDatabase('idle')))
}

async function idleMemoryEmbedded({ plan }: Bench): Promise<number> {
  return idleMemory(plan, {})
}

async function idleMemory(plan: Plan, settings: Record<string, string>): Promise<number> {
  await using server: Child = await startServer(settings)
  const { environmentId, member } = await makeTenant(server.url, 5)
  await get(`${server.url}/v1/resolve?env=${environmentId}`, member.bearer)
  await sleep(plan.idleMs)
  return await server.residentMb()
}

const settingsOf = (databaseUrl: string) => ({
  SKERRY_DATABASE_URL: databaseUrl,
  SKERRY_DATABASE_POOL: String(poolSize),
})

interface Sent {
  body: string
  contentType: string | null
  etag: string | null
}

async function get(url: string, bearer: string): Promise<Sent> {
  const answer = await fetch(url, { headers: { authorization: `Bearer ${bearer}` } })
  if (answer.status !== 200) throw new Error(`${url}: ${answer.status} ${await answer.text()}`)
  const { headers } = answer
  return { body: await answer.text(), contentType: headers.get('content-type'), etag: headers.get('etag') }
}

/** Whoever sends less would win by that. */
function assertSame(ours: Sent, floor: Sent): void {
  for (const part of ['body', 'contentType', 'etag'] as const)
    if (ours[part] !== floor[part])
      throw new Error(`the floor answers another ${part}:\n${floor[part]}\nand not ours:\n${ours[part]}`)
}
