import { startFloor, startServer } from '../child.ts'
import { type BenchOnPostgres, onDatabase, poolSize } from '../figure.ts'
import { compare } from '../measure.ts'
import { makeTenant, newCiphertext, newEnvironments, request, secretName } from '../tenant.ts'

/** New names lie in so many environments that none comes near the 5,000 secrets that it may hold: there, writes are counted. */
const environmentCount = 120

export async function secretPut(bench: BenchOnPostgres): Promise<number> {
  const databaseUrl = await bench.postgres.createDatabase('secret_put')
  await using server = await startServer(onDatabase(databaseUrl))
  const requests = await puts(server.url)
  const floorUrl = await bench.postgres.createDatabase('secret_put_floor')
  await using floor = await startFloor('insert', { databaseUrl: floorUrl, poolSize })
  // A slow path gets hot slowly.
  const patient = { ...bench, plan: { ...bench.plan, warmUpMs: bench.plan.warmUpMs * 3 } }
  const { perSecond } = await compare(
    patient,
    { name: 'put', requests, server },
    { name: 'one insert', requests, server: floor },
  )
  return perSecond
}

/** Half of the names are new, half get another version. */
export async function puts(url: string): Promise<string[]> {
  const tenant = await makeTenant(url, 200)
  const { orgId, environmentId, admin } = tenant
  const others = await newEnvironments(url, tenant, environmentCount)
  return Array.from({ length: 190 }, (_, i) => [
    `${environmentId}/secrets/${secretName(i + 10)}`,
    `${others[i % environmentCount]}/secrets/NEW_${i}_{unique}`,
  ])
    .flat()
    .map((place) => `/v1/orgs/${orgId}/envs/${place}`)
    .map((path) => request('PUT', path, admin.bearer, { ciphertext: newCiphertext() }))
}
