import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { rotation } from '@skerry/contract/rotation/endpoints'
import pg from 'pg'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { newDatabase } from '../engine.ts'
import { isQuick } from '../extent.ts'
import { type KeyedEnv, newKeyedEnv, newRotation, wrappedForRotator } from '../rotation-steps.ts'
import { missingPostgres } from '../services/postgres.ts'
import { openWire, type Wire } from '../services/wire.ts'
import { newShopTarget, openShop, type Shop } from '../shop.ts'
import { signUp, type Tenant } from '../tenant.ts'
import { call, serverKey, type World } from '../world.ts'
import { type ServerProcess, startProcess } from './server-process.ts'

/** Rounds of each kind. Set SKERRY_CRASH_ROUNDS for fewer during development. */
const rounds = Number(process.env.SKERRY_CRASH_ROUNDS ?? (isQuick ? 3 : 30))

let dataDir: string
let database: Awaited<ReturnType<typeof newDatabase>>
let settings: Record<string, string>
let server: ServerProcess
let shop: Shop
let wire: Wire
let tenant: Tenant
let env: KeyedEnv
let rotationId: string

/** Has the part of `World` that the helpers use, with a server in another process. */
const world = () =>
  ({ call: (endpoint: never, input: never) => call(server.url, [], endpoint, input) }) as unknown as World

const skip = missingPostgres()

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
  wire = await openWire(`postgres://127.0.0.1:${shop.connection.port}/shop`)
  const connection = { ...shop.connection, port: Number(new URL(wire.url).port) }
  tenant = await signUp(world())
  env = await newKeyedEnv(world(), tenant)
  await env.put('DB_PASSWORD', 'first-password')
  const made = await newRotation(world(), tenant, {
    environmentId: env.envId,
    secretName: 'DB_PASSWORD',
    config: { kind: 'postgres', username: 'app' },
    intervalSeconds: 3600,
    targetId: await newShopTarget(world(), tenant, { ...shop, connection }),
    wrappedDek: await wrappedForRotator(world(), tenant, env.bytes),
  })
  rotationId = made.rotation.id
})
afterAll(async () => {
  if (skip) return
  await server.stop()
  await wire.close()
  await shop.stop()
  await database.drop()
  await rm(dataDir, { recursive: true, force: true })
})

const rotate = () => world().call(rotation.rotate, { as: tenant.admin.as, params: { orgId: tenant.orgId, rotationId } })

/** Rotates again and again, until the round is over or the server is gone. */
async function rotateOn(isOver: () => boolean): Promise<void> {
  while (!isOver()) {
    try {
      await rotate()
    } catch {
      return
    }
  }
}

const tookMs: number[] = []

/** Strikes during a rotation, at another point in each round. */
async function strikeAmid(round: number, strike: () => Promise<void>): Promise<void> {
  const startedAt = performance.now()
  expect((await rotate()).status).toBe(200)
  tookMs.push(performance.now() - startedAt)
  let isOver = false
  const load = rotateOn(() => isOver)
  const typical = tookMs.toSorted((a, b) => a - b)[tookMs.length >> 1] as number
  await new Promise((tick) => setTimeout(tick, typical * (0.2 + ((round * 7) % 13) / 10)))
  await strike()
  isOver = true
  await load
}

/** Asserts that the current version signs in after the next run has resolved the interrupted one. */
async function check(round: number): Promise<void> {
  await expect.poll(async () => (await rotate()).status, { interval: 100 }).toBe(200)
  expect([round, await shop.signsIn('app', await env.read('DB_PASSWORD'))]).toEqual([round, true])
}

/** Expires the claim of an interrupted run. With PostgreSQL the next run would otherwise wait for it to expire. */
async function letSilencePass(): Promise<void> {
  const { SKERRY_DATABASE_URL: url } = settings
  if (url === undefined) return
  const client = new pg.Client(url)
  await client.connect()
  await client.query('update rotation_policies set claimed_until = now()')
  await client.end()
}

test.skipIf(skip !== undefined)(
  `the current version signs in after ${rounds} rounds of kill -9 during rotations`,
  async () => {
    for (let round = 0; round < rounds; round++) {
      await strikeAmid(round, () => server.kill9())
      server = await startProcess(settings)
      // In a full run the first round really waits until the claim expires.
      if (isQuick || round > 0) await letSilencePass()
      await check(round)
    }
  },
  1_200_000,
)

test.skipIf(skip !== undefined)(
  `the current version signs in after ${rounds} rounds of cutting the connection to the target during rotations`,
  async () => {
    for (let round = 0; round < rounds; round++) {
      await strikeAmid(round, async () => wire.cut())
      await check(round)
    }
  },
  1_200_000,
)
