import { assertSame, get } from '../answer.ts'
import { startFloor, startServer } from '../child.ts'
import { type Bench, onDatabase } from '../figure.ts'
import { type Comparison, compare } from '../measure.ts'
import { makeTenant, request, usualSecrets } from '../tenant.ts'

export const resolveCached = async (bench: Bench): Promise<number> => (await cached(bench)).perSecond

export const resolveCachedLarge = async (bench: Bench): Promise<number> =>
  (await cached(bench, { secretCount: 2000, connections: 10 })).perSecond

/** More connections than one address may have by default. */
const many = { connections: 1000, more: { SKERRY_CONNECTIONS_PER_ADDRESS: '5000' } }

/** Measured once for the two figures that it gives. */
let manyConnections: Promise<Comparison> | undefined

export async function resolveCachedManyConnections(bench: Bench): Promise<number> {
  manyConnections ??= cached(bench, many)
  return (await manyConnections).perSecond
}

export async function resolveCachedManyConnectionsP99(bench: Bench): Promise<number> {
  manyConnections ??= cached(bench, many)
  return (await manyConnections).p99
}

interface Population {
  secretCount?: number
  connections?: number
  more?: Record<string, string>
}

async function cached(
  bench: Bench,
  { secretCount = usualSecrets, connections, more = {} }: Population = {},
): Promise<Comparison> {
  const settings: Record<string, string> = bench.postgres
    ? onDatabase(await bench.postgres.createDatabase(`resolve_cached_${secretCount}_${connections}`))
    : {}
  await using server = await startServer({ ...settings, ...more })
  const { environmentId, member } = await makeTenant(server.url, secretCount)
  const path = `/v1/resolve?env=${environmentId}`
  const answer = await get(server.url + path, member.bearer)
  await using floor = await startFloor('fixed', answer)
  assertSame(answer, await get(floor.url + path, member.bearer))
  const requests = [request('GET', path, member.bearer)]
  return await compare(
    bench,
    { name: 'resolve', requests, server },
    { name: 'fixed bytes', requests, server: floor },
    connections,
  )
}
