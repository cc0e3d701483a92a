import { rotation } from '@skerry/contract/rotation/endpoints'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type KeyedEnv, newKeyedEnv, newRotation, wrappedForRotator } from '../../../test/rotation-steps.ts'
import { openTenant } from '../../../test/scene.ts'
import { missingPostgres } from '../../../test/services/postgres.ts'
import { newShopTarget, openShop, type Shop } from '../../../test/shop.ts'
import { stopSchedules } from '../../../test/state.ts'

const { world, tenant } = await openTenant({ SKERRY_ALLOW_PRIVATE_TARGETS: '127.0.0.0/8' })
await stopSchedules(world)

const rotations = 20
const clients = 4

describe.skipIf(missingPostgres())('an application under load with two alternating accounts', () => {
  let shop: Shop
  let env: KeyedEnv
  let rotationId: string
  beforeAll(async () => {
    shop = await openShop(['app_a', 'app_b'])
    env = await newKeyedEnv(world, tenant)
    await env.put('DB_USER', 'app_a')
    await env.put('DB_PASSWORD', 'first-password')
    const made = await newRotation(world, tenant, {
      environmentId: env.envId,
      secretName: 'DB_PASSWORD',
      config: { kind: 'postgres', username: 'app_a', alternateUsername: 'app_b', usernameSecret: 'DB_USER' },
      intervalSeconds: 3600,
      targetId: await newShopTarget(world, tenant, shop),
      wrappedDek: await wrappedForRotator(world, tenant, env.bytes),
    })
    rotationId = made.rotation.id
  })
  afterAll(() => shop.stop())

  /** Returns the user name and the password from one resolve, so that they belong together. */
  async function current(): Promise<[string, string]> {
    const values = await env.readAll()
    return [values.get('DB_USER') as string, values.get('DB_PASSWORD') as string]
  }

  test(`can sign in all the time during ${rotations} rotations, although it reads its secrets late`, async () => {
    let isOver = false
    const results: boolean[] = []
    const reads = Array.from({ length: clients }, () => 0)
    /** Uses what it has read for several sign-ins, like a process that was started with these secrets. */
    async function work(client: number): Promise<void> {
      while (!isOver) {
        const [user, password] = await current()
        reads[client] = (reads[client] as number) + 1
        for (let use = 0; use < 3 && !isOver; use++) results.push(await shop.signsIn(user, password))
      }
    }
    const load = Promise.all(reads.map((_, client) => work(client)))
    for (let count = 0; count < rotations; count++) {
      const before = [...reads]
      // This replaces the interval: every client has begun and finished another read since the last rotation.
      const haveRead = () => reads.every((read, client) => read >= (before[client] as number) + 2)
      await expect.poll(haveRead, { interval: 20 }).toBe(true)
      const params = { orgId: tenant.orgId, rotationId }
      expect((await world.call(rotation.rotate, { as: tenant.admin.as, params })).status).toBe(200)
    }
    isOver = true
    await load
    expect(results.length).toBeGreaterThan(rotations * clients)
    expect(results.filter((signedIn) => !signedIn)).toEqual([])
  })
})
