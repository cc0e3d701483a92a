import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { rotation } from '@skerry/contract/rotation'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { engine, newDatabase } from '../engine.ts'
import { isQuick } from '../extent.ts'
import { type KeyedEnv, newKeyedEnv, newRotation, wrappedForRotator } from '../rotation-steps.ts'
import { missingPostgres } from '../services/postgres.ts'
import { newShopTarget, openShop, type Shop } from '../shop.ts'
import { signUp, type Tenant } from '../tenant.ts'
import { call, serverKey, type World } from '../world.ts'
import { type ServerProcess, startProcess } from './server-process.ts'

/** Fewer, by SKERRY_CRASH_ROUNDS, while working on something; and where each waits for a run to be taken for dead. */
const rounds = Number(process.env.SKERRY_CRASH_ROUNDS ?? (engine() === 'embedded' ? 30 : 8))

let dataDir: string
let database: Awaited<ReturnType<typeof newDatabase>>
let settings: Record<string, string>
let server: ServerProcess
let shop: Shop
let tenant: Tenant
let env: KeyedEnv
let rotationId: string

/** The part of a world that the helpers use, over a server in another process. */
const world = () =>
  ({ call: (endpoint: never, input: never) => call(server.url, [], endpoint, input) }) as unknown as World

/** Each round starts a server: too long for a quick run. */
const skip = missingPostgres() ?? (isQuick ? 'quick' : undefined)

beforeAll(async () => {
  if (skip) return
  dataDir = await mkdtemp(join(tmpdir(), 'skerry-crash-'))
  database = await newDatabase(dataDir)
  settings = {
    SKERRY_DATA_DIR: dataDir,
    SKERRY_SERVER_KEY: serverKey,
    SKERRY_ALLOW_PRIVATE_TARGETS: '127.0.0.0/8',
    ...database.settings,
  }
  server = await startProcess(settings)
  shop = await openShop(['app'])
  tenant = await signUp(world())
  env = await newKeyedEnv(world(), tenant)
  await env.put('DB_PASSWORD', 'first-password')
  const made = await newRotation(world(), tenant, {
    environmentId: env.envId,
    secretName: 'DB_PASSWORD',
    config: { kind: 'postgres', username: 'app' },
    intervalSeconds: 3600,
    targetId: await newShopTarget(world(), tenant, shop),
    wrappedDek: await wrappedForRotator(world(), tenant, env.bytes),
  })
  rotationId = made.rotation.id
}, 120_000)
afterAll(async () => {
  if (skip) return
  await server.stop()
  await shop.stop()
  await database.drop()
  await rm(dataDir, { recursive: true, force: true })
})

const rotate = () => world().call(rotation.rotate, { as: tenant.admin.as, params: { orgId: tenant.orgId, rotationId } })

/** Rotates until the server is gone. */
async function rotateOn(): Promise<void> {
  for (;;) {
    try {
      await rotate()
    } catch {
      return
    }
  }
}

test.skipIf(skip !== undefined)(
  `the current version signs in after ${rounds} rounds of kill -9 amid rotations`,
  async () => {
    const tookMs: number[] = []
    for (let round = 0; round < rounds; round++) {
      const startedAt = performance.now()
      expect((await rotate()).status).toBe(200)
      tookMs.push(performance.now() - startedAt)
      const load = rotateOn()
      // At another point of a rotation each round.
      const typical = tookMs.toSorted((a, b) => a - b)[tookMs.length >> 1] as number
      await new Promise((tick) => setTimeout(tick, typical * (0.2 + ((round * 7) % 13) / 10)))
      await server.kill9()
      await load
      server = await startProcess(settings)
      // Where servers share a database, a run that was cut off is dead only once it has been silent for a while.
      await expect.poll(async () => (await rotate()).status, { interval: 300 }).toBe(200)
      expect([round, await shop.signsIn('app', await env.read('DB_PASSWORD'))]).toEqual([round, true])
    }
  },
  900_000,
)
