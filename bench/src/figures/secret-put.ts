import { startFloor, startServer } from '../child.ts'
import { type BenchOnPostgres, onDatabase, poolSize } from '../figure.ts'
import { compare } from '../measure.ts'
import { makeTenant, newCiphertext, newEnvironments, request, secretName } from '../tenant.ts'

/** Environments for the new secrets, so many that none comes near 5,000 secrets: at that limit, writes are counted. */
const environmentCount = 120

export async function secretPut(bench: BenchOnPostgres): Promise<number> {
  const databaseUrl = await bench.postgres.createDatabase('secret_put')
  await using server = await startServer(onDatabase(databaseUrl))
  const requests = await puts(server.url)
  const floorUrl = await bench.postgres.createDatabase('secret_put_floor')
  await using floor = await startFloor('insert', { databaseUrl: floorUrl, poolSize })
  // A longer warm-up, because Node optimizes the code of a slow path later.
  const patient = { ...bench, plan: { ...bench.plan, warmUpMs: bench.plan.warmUpMs * 3 } }
  const { perSecond } = await compare(
    patient,
    { name: 'put', requests, server },
    { name: 'one insert', requests, server: floor },
  )
  return perSecond
}

/** Half of the requests create a secret, and half write another version of one. */
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
