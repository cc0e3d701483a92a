import { startFloor, startServer } from '../child.ts'
import { type BenchOnPostgres, onDatabase, poolSize } from '../figure.ts'
import { compare } from '../measure.ts'
import { makeTenant, newCiphertext, request, secretName } from '../tenant.ts'

/** Half of the names are new, half get another version. */
export async function secretPut(bench: BenchOnPostgres): Promise<number> {
  const databaseUrl = await bench.postgres.createDatabase('secret_put')
  await using server = await startServer(onDatabase(databaseUrl))
  const { orgId, environmentId, admin } = await makeTenant(server.url, 200)
  const floorUrl = await bench.postgres.createDatabase('secret_put_floor')
  await using floor = await startFloor('insert', { databaseUrl: floorUrl, poolSize })
  // A slow path gets hot slowly.
  const patient = { ...bench, plan: { ...bench.plan, warmUpMs: bench.plan.warmUpMs * 3 } }
  const requests = Array.from({ length: 190 }, (_, i) => [secretName(i + 10), `NEW_${i}_{unique}`])
    .flat()
    .map((name) => `/v1/orgs/${orgId}/envs/${environmentId}/secrets/${name}`)
    .map((path) => request('PUT', path, admin.bearer, { ciphertext: newCiphertext() }))
  const { perSecond } = await compare(
    patient,
    { name: 'put', requests, server },
    { name: 'one insert', requests, server: floor },
  )
  return perSecond
}
