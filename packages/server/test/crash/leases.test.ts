import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { leases } from '@skerry/contract/leases/endpoints'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { roleName, verifierOf } from '../../../providers/test/leases/mint.ts'
import { type PostgresScene, postgresScene } from '../../../providers/test/leases/postgres-scene.ts'
import { readConfig } from '../../src/config.ts'
import { sweep } from '../../src/features/leases/jobs.ts'
import { newDatabase, type TestDatabase } from '../engine.ts'
import { isQuick } from '../extent.ts'
import { wrappedForBroker } from '../lease-steps.ts'
import { missingPostgres } from '../services/postgres.ts'
import { openWire, type Wire } from '../services/wire.ts'
import { signUp, type Tenant } from '../tenant.ts'
import { call, serverKey, start, type World } from '../world.ts'
import { type ServerProcess, startProcess } from './server-process.ts'

/** Rounds of each kind. Set SKERRY_CRASH_ROUNDS for fewer during development. */
const rounds = Number(process.env.SKERRY_CRASH_ROUNDS ?? (isQuick ? 3 : 30))
const clients = 4
/** The lifetime of the leases. Some are revoked earlier. */
const ttlSeconds = 600

describe.skipIf(missingPostgres())('when the server is killed or the target is cut off', () => {
  let dataDir: string
  let database: TestDatabase
  let settings: Record<string, string>
  let server: ServerProcess
  let scene: PostgresScene
  let wire: Wire
  let tenant: Tenant
  let targetId: string
  /** The number of answered mints and revocations. */
  let answered = 0

  beforeAll(async () => {
    dataDir = await mkdtemp(join(tmpdir(), 'skerry-crash-leases-'))
    database = await newDatabase(dataDir)
    settings = {
      SKERRY_DATA_DIR: dataDir,
      SKERRY_SERVER_KEY: serverKey,
      SKERRY_ALLOW_PRIVATE_TARGETS: '127.0.0.0/8',
      ...database.settings,
    }
    scene = await postgresScene()
    wire = await openWire(`postgres://127.0.0.1:${scene.port}/shop`)
    server = await startProcess(settings)
    tenant = await signUp(world())
    targetId = await register()
  })
  afterAll(async () => {
    await server.stop()
    await wire.close()
    await scene.stop()
    await database.drop()
    await rm(dataDir, { recursive: true, force: true })
  })

  /** Has the part of `World` that the helpers use, with a server in another process. */
  const world = (url = server.url) =>
    ({ call: (endpoint: never, input: never) => call(url, [], endpoint, input) }) as unknown as World

  async function register(): Promise<string> {
    const port = Number(new URL(wire.url).port)
    const connection = { host: '127.0.0.1', port, database: 'shop' }
    const config = { provider: 'postgres', executor: 'in_broker', connection, accessLevel: 'readonly', schema: 'app' }
    const credential = `postgres://skerry_admin:adminpassword@127.0.0.1:${port}/shop`
    const body = { name: 'shop', config, wrappedAdminSecret: await wrappedForBroker(world(), tenant, credential) }
    const { as } = tenant.admin
    const made = await call(server.url, [], leases.createTarget, { as, params: { orgId: tenant.orgId }, body })
    expect(made.error).toBeUndefined()
    return made.body.target.id
  }

  /** Mints leases, and revokes every other one, until the server is gone or the round is over. */
  async function use(isOver: () => boolean): Promise<void> {
    const { as } = tenant.admin
    const params = { orgId: tenant.orgId }
    for (let count = 0; !isOver(); count++) {
      try {
        const verifier = verifierOf.postgres('a password')
        const body = { provider: 'postgres' as const, targetId, roleName: roleName(), verifier, ttlSeconds }
        const minted = await call(server.url, [], leases.create, { as, params, body })
        answered++
        if (minted.status !== 201 || count % 2 === 1) continue
        const { id: leaseId } = minted.body.lease
        await call(server.url, [], leases.revoke, { as, params: { orgId: tenant.orgId, leaseId } })
        answered++
      } catch {
        if (isOver()) return
      }
    }
  }

  const accounts = async (): Promise<string[]> => {
    const marked = `SELECT rolname FROM pg_roles WHERE rolname LIKE 'lease\\_%'`
    return (await scene.root.query<{ rolname: string }>(marked)).rows.map(({ rolname }) => rolname)
  }

  /** Returns the accounts that may be on the target according to the ledger, with their status. */
  async function live(url: string): Promise<Map<string | null, string>> {
    const found = new Map<string | null, string>()
    let cursor: string | undefined
    do {
      const query = { limit: 100, ...(cursor === undefined ? {} : { cursor }) }
      const { as } = tenant.admin
      const { body } = await call(url, [], leases.list, { as, params: { orgId: tenant.orgId }, query })
      for (const { status, resourceRef } of body.leases)
        if (!['expired', 'revoked', 'failed'].includes(status)) found.set(resourceRef, status)
      cursor = body.nextCursor ?? undefined
    } while (cursor !== undefined)
    return found
  }

  /** Lists the accounts before and after it reads the ledger, because accounts are added and removed meanwhile. */
  async function check(): Promise<void> {
    const before = new Set(await accounts())
    const known = await live(server.url)
    const unknown = (await accounts()).filter((name) => before.has(name) && !known.has(name))
    expect(unknown).toEqual([])
  }

  const killed = async () => {
    await server.kill9()
  }
  const cutOff = async () => wire.cut()

  test(`the ledger lists every account on the target after each of ${rounds} rounds of both, and all leases end in time`, async () => {
    for (let round = 0; round < 2 * rounds; round++) {
      const strike = round % 2 === 0 ? killed : cutOff
      let over = false
      const load = Promise.all(Array.from({ length: clients }, () => use(() => over)))
      const before = answered
      // Each round strikes at another point of the work, but never before the first answer.
      await expect.poll(() => answered, { interval: 2 }).toBeGreaterThan(before + (round % 12))
      if (strike === cutOff) for (let cut = 0; cut < 3; cut++) await cutAgain(answered)
      over = strike === killed
      await strike()
      over = true
      await load
      if (strike === killed) server = await startProcess(settings)
      await check()
    }
    await endsInTime()
  }, 1_200_000)

  /** Cuts the connections to the target, and waits until the server answers a request again. */
  async function cutAgain(before: number): Promise<void> {
    await cutOff()
    await expect.poll(() => answered, { interval: 2 }).toBeGreaterThan(before)
  }

  // Not in quick runs, because the shortest lease lives for a minute.
  test.skipIf(isQuick)(
    'a lease whose end was interrupted by a kill ends within 10 seconds of the return of the server',
    async () => {
      const { as } = tenant.admin
      const [name, verifier] = [roleName(), verifierOf.postgres('a password')]
      const body = { provider: 'postgres' as const, targetId, roleName: name, verifier, ttlSeconds: 60 }
      const { lease } = (await call(server.url, [], leases.create, { as, params: { orgId: tenant.orgId }, body })).body
      const params = { orgId: tenant.orgId, leaseId: lease.id }
      const status = async () => (await call(server.url, [], leases.get, { as, params })).body.lease.status
      await scene.root.query('BEGIN; LOCK TABLE pg_authid IN SHARE MODE')
      await expect.poll(status, { timeout: 90_000 }).toBe('revoking')
      await server.kill9()
      await scene.root.query('COMMIT')
      server = await startProcess(settings)
      await expect.poll(status, { timeout: 10_000 }).toBe('expired')
      expect(await scene.exists(name)).toBe(false)
    },
    180_000,
  )

  /** Starts a server on the same database with a clock past the end of every lease and mint. All leases must end. */
  async function endsInTime(): Promise<void> {
    await server.stop()
    const later = () => new Date(Date.now() + (ttlSeconds + 120) * 1000)
    const log: string[] = []
    const after = await start(readConfig({ SKERRY_PORT: '0', ...settings }), log, later)
    try {
      await sweep(after.context)
      await expect.poll(async () => [...(await live(after.url))]).toEqual([])
      expect(await accounts()).toEqual([])
    } finally {
      await after.close()
    }
    server = await startProcess(settings)
  }
})
