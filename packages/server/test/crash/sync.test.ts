import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { sync } from '@skerry/contract/sync/endpoints'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { newDatabase, type TestDatabase } from '../engine.ts'
import { isQuick } from '../extent.ts'
import { type AppPlatform, startAppPlatform } from '../services/app-platform.ts'
import { bind, connect, erase, type Vaulted, vaultedEnv, write } from '../sync-scene.ts'
import { signUp, type Tenant } from '../tenant.ts'
import { call, serverKey, type World } from '../world.ts'
import { type ServerProcess, startProcess } from './server-process.ts'

/** Rounds of kill -9. Set SKERRY_CRASH_ROUNDS for fewer during development. */
const rounds = Number(process.env.SKERRY_CRASH_ROUNDS ?? 30)
const app = 'crashing'

let dataDir: string
let database: TestDatabase
let platform: AppPlatform
let server: ServerProcess
let tenant: Tenant
let env: Vaulted
let bindingId: string
let settings: Record<string, string>
/** The current secrets of the environment. */
const wanted = new Map<string, string>()

const world = () =>
  ({ call: (endpoint: never, input: never) => call(server.url, [], endpoint, input) }) as unknown as World

beforeAll(async () => {
  dataDir = await mkdtemp(join(tmpdir(), 'skerry-sync-crash-'))
  platform = await startAppPlatform()
  database = await newDatabase(dataDir)
  settings = {
    SKERRY_DATA_DIR: dataDir,
    SKERRY_SERVER_KEY: serverKey,
    ...platform.settings,
    ...database.settings,
  }
  server = await startProcess(settings)
  tenant = await signUp(world())
  env = await vaultedEnv(world(), tenant)
  platform.values(app).set('FOREIGN', 'theirs').set('N_FOREIGN', 'theirs')
  const connection = await connect(world(), tenant, platform)
  const more = { mode: 'auto', onDelete: 'delete', nameTransform: { prefix: 'N_' } }
  bindingId = (await bind(world(), tenant, connection, [env], app, more)).id
})
afterAll(async () => {
  await server.stop()
  await platform.stop()
  await database.drop()
  await rm(dataDir, { recursive: true, force: true })
})

/** Changes some secrets, and kills the server while it pushes: before, during or after the call that writes. */
async function killWhilePushing(round: number): Promise<void> {
  const reached = Promise.withResolvers<void>()
  const gate = Promise.withResolvers<void>()
  platform.answer(async ({ method }) => {
    if (method === 'GET' && round % 3 === 0) reached.resolve()
    if (method !== 'POST') return undefined
    // In every third round the platform stores at once and the kill follows. Otherwise it stores only after the kill.
    if (round % 3 === 1) setTimeout(reached.resolve, round % 7)
    else {
      reached.resolve()
      await gate.promise
    }
    return undefined
  })
  for (const name of [`A_${round % 5}`, `B_${round % 4}`]) {
    wanted.set(name, `value ${round} of ${name}`)
    await write(world(), tenant, env, name, wanted.get(name) as string)
  }
  const gone = `A_${(round + 2) % 5}`
  if (wanted.delete(gone)) await erase(world(), tenant, env, gone)
  await reached.promise
  await server.kill9()
  gate.resolve()
  platform.answer(null)
}

test.skipIf(isQuick)(
  `the platform has exactly the right names, and the history is correct, after ${rounds} rounds of kill -9 in sync runs`,
  async () => {
    for (let round = 0; round < rounds; round++) {
      await killWhilePushing(round)
      server = await startProcess(settings)
      const expected = { FOREIGN: 'theirs', N_FOREIGN: 'theirs' } as Record<string, string>
      for (const [name, value] of wanted) expected[`N_${name}`] = value
      await expect.poll(() => Object.fromEntries(platform.values(app)), { timeout: 60_000 }).toEqual(expected)
      await expect.poll(openRuns, { timeout: 60_000 }).toBe(0)
    }
    const runs = await history()
    const cut = runs.filter(({ error }) => error === 'The server stopped during this run.')
    expect(cut.length).toBeGreaterThan(rounds / 3)
    for (const { pushed, deleted, status } of runs) {
      expect(status).not.toBe('running')
      expect(new Set([...pushed, ...deleted]).size).toBe(pushed.length + deleted.length)
    }
  },
  1_800_000,
)

const history = async () => {
  const query = { bindingId, limit: 1000 }
  return (await world().call(sync.runs, { as: tenant.admin.as, params: { orgId: tenant.orgId }, query })).body.runs
}
const openRuns = async () => (await history()).filter(({ status }) => status === 'running').length
