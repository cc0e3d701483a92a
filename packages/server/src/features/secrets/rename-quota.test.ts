import { deletedSecrets, secrets } from '@skerry/contract/secrets/endpoints'
import { expect, test } from 'vitest'
import { ciphertext, sealedFormerNames } from '../../../test/blobs.ts'
import { openTenant } from '../../../test/scene.ts'
import { newApp, newEnv, putSecret } from '../../../test/tenant.ts'

// With so low a limit every environment is nearly full, and every write is counted.
const { world, tenant } = await openTenant({ SKERRY_ENVIRONMENT_MB: '1' })
const { orgId, admin } = tenant
const { quotaCache, config, db } = world.server.context
const appId = (await newApp(world, tenant)).id

const record = sealedFormerNames(45_000)

const rename = (envId: string, name: string, newName: string, expectedVersion = 1) =>
  world.call(secrets.rename, {
    as: admin.as,
    params: { orgId, envId, name },
    body: { newName, ciphertext: ciphertext(), formerNames: record, expectedVersion },
  })

/** Fills an environment, with large secrets beside two small ones, until one record of former names has room. */
async function nearlyFull(slug: string): Promise<string> {
  const { id } = await newEnv(world, tenant, appId, slug)
  const [filler, room] = [ciphertext(45_000), config.environmentBytesMax - 1.5 * record.length]
  for (let n = 0; n * filler.length < room; n++)
    await world.call(secrets.put, {
      as: admin.as,
      params: { orgId, envId: id, name: `LARGE_${n}` },
      body: { ciphertext: filler },
    })
  for (const name of ['FIRST', 'SECOND']) await putSecret(world, tenant, id, name)
  return id
}

const refused = { status: 403, error: { code: 'quota_exceeded' } }

test('the record of former names counts towards the size of an environment, and a rename replaces it', async () => {
  const envId = await nearlyFull('records')
  expect((await rename(envId, 'FIRST', 'RENAMED')).status).toBe(200)
  expect(await rename(envId, 'SECOND', 'ANOTHER')).toMatchObject(refused)
  expect((await rename(envId, 'RENAMED', 'AGAIN', 2)).status).toBe(200)
  const large = { as: admin.as, params: { orgId, envId, name: 'AGAIN' }, body: { ciphertext: ciphertext(45_000) } }
  expect(await world.call(secrets.put, large)).toMatchObject(refused)
})

test('the record of a deleted secret counts again when the secret is restored', async () => {
  const envId = await nearlyFull('deleted')
  await rename(envId, 'FIRST', 'KEPT')
  const params = { orgId, envId, name: 'KEPT' }
  await world.call(secrets.delete, { as: admin.as, params, query: { keepFor: '30d' } })
  expect((await rename(envId, 'SECOND', 'RENAMED')).status).toBe(200)
  const kept = (await world.call(deletedSecrets.list, { as: admin.as, params: { orgId, envId } })).body
  const secretId = kept.deletedSecrets[0]?.id as string
  const back = { as: admin.as, params: { orgId, envId, secretId }, body: { ciphertext: ciphertext() } }
  expect(await world.call(deletedSecrets.restore, back)).toMatchObject(refused)
  await db.rows('update deleted_secrets set former_names = null where id = $1', [secretId])
  expect((await world.call(deletedSecrets.restore, back)).status).toBe(200)
})

test('a rename makes no new secret, so it releases the one that it reserved', async () => {
  const { id } = await newEnv(world, tenant, appId, 'released')
  await putSecret(world, tenant, id, 'FIRST')
  quotaCache.store(id, { secrets: 1016, bytes: 1e9 })
  expect((await rename(id, 'FIRST', 'RENAMED')).status).toBe(200)
  expect([quotaCache.reserve(id, 1), quotaCache.reserve(id, 1)]).toEqual([true, false])
})
