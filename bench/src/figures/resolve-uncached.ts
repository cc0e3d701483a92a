import { assertSame, get } from '../answer.ts'
import { startFloor, startServer } from '../child.ts'
import { type BenchOnPostgres, onDatabase, poolSize, withoutCache } from '../figure.ts'
import { compare } from '../measure.ts'
import { makeTenant, request, usualSecrets } from '../tenant.ts'

export async function resolveUncached(bench: BenchOnPostgres): Promise<number> {
  const databaseUrl = await bench.postgres.createDatabase('resolve_uncached')
  await using server = await startServer({ ...onDatabase(databaseUrl), ...withoutCache })
  const { environmentId, member } = await makeTenant(server.url, usualSecrets)
  await using floor = await startFloor('query', { databaseUrl, poolSize, principalId: member.id })
  const path = `/v1/resolve?env=${environmentId}`
  assertSame(await get(server.url + path, member.bearer), await get(floor.url + path, member.bearer))
  const requests = [request('GET', path, member.bearer)]
  const { perSecond } = await compare(
    bench,
    { name: 'resolve', requests, server },
    { name: 'one query', requests, server: floor },
  )
  return perSecond
}
