import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { health } from '@skerry/contract/health/endpoints'
import { invites } from '@skerry/contract/members/endpoints'
import { orgs } from '@skerry/contract/orgs/endpoints'
import { resolve } from '@skerry/contract/resolve/endpoints'
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { openPostgres } from '../src/db/postgres.ts'
import { unpolledMaxMs } from '../src/features/resolve/cache.ts'
import { bearerSecret } from './blobs.ts'
import { engine } from './engine.ts'
import { type PostgresService, startPostgres } from './services/postgres.ts'
import { openWire, type Wire } from './services/wire.ts'
import { type Actor, grantKey, newApp, newEnv, newToken, putSecret, signUp, type Tenant } from './tenant.ts'
import { until } from './until.ts'
import { longMs } from './wait-limits.ts'
import { call, openWorld, type World } from './world.ts'

/** A tenant, and a token whose resolve the server answers from its cache. */
interface Scene {
  world: World
  tenant: Tenant
  envId: string
  token: Actor
}

async function setScene(databaseUrl: string): Promise<Scene> {
  const world = await openWorld({ SKERRY_DATABASE_URL: databaseUrl })
  const tenant = await signUp(world)
  const envId = (await newEnv(world, tenant, (await newApp(world, tenant)).id)).id
  const token = await newToken(world, tenant)
  await grantKey(world, tenant, envId, token)
  await putSecret(world, tenant, envId, 'FIRST')
  const scene = { world, tenant, envId, token }
  await untilFromMemory(scene)
  return scene
}

const ask = ({ world, envId, token }: Scene) =>
  call(world.url, world.answers, resolve.get, { as: token.as, query: { env: envId } })

const remembered = ({ world, envId, token }: Scene) =>
  world.server.context.cache.find(`${token.id} env=${envId}`, world.clock.now().getTime())

const untilFromMemory = (scene: Scene) =>
  until(
    'the answer comes from memory',
    async () => (await ask(scene)).status === 200 && remembered(scene) !== undefined,
  )

/** Returns the status of a request, or undefined if no response came within the time. */
async function statusWithin(ms: number, url: string, as?: string): Promise<number | undefined> {
  const headers: Record<string, string> = as === undefined ? {} : { authorization: as }
  try {
    return (await fetch(url, { headers, signal: AbortSignal.timeout(ms) })).status
  } catch (error) {
    if ((error as Error).name === 'TimeoutError') return undefined
    throw error
  }
}

describe.runIf(engine() === 'postgres')('while the database', () => {
  let service: PostgresService
  let scene: Scene
  let wire: Wire
  /** Calls the server without the world's own call, which prints every 500. Here 500 is expected. */
  const quietly: World['call'] = (endpoint, input) => call(scene.world.url, scene.world.answers, endpoint, input)
  /** A scene with its own database, whose connections go through the wire. */
  let silenced: Scene

  beforeAll(async () => {
    service = (await startPostgres({ fsync: false })) as PostgresService
    scene = await setScene(await service.createDatabase('down'))
    wire = await openWire(await service.createDatabase('silent'))
    silenced = await setScene(wire.url)
  })
  afterAll(async () => {
    await wire.close()
    await silenced.world.close()
    await scene.world.close()
    await service.dispose()
  })

  describe('is silent', () => {
    test('no response comes from the cache after a second without a poll for changes, and /ready answers 503', async () => {
      const { world, envId, token } = silenced
      const { cache } = world.server.context
      const url = `${world.url}/v1/resolve?env=${envId}`
      await untilFromMemory(silenced)
      wire.fallSilent()
      // A poll that the database answered just before the silence may still be recorded.
      for (let turn = 0; turn < 5; turn++) await new Promise(setImmediate)
      cache.polled(performance.now() + longMs)
      expect(await statusWithin(longMs, url, token.as)).toBe(200)
      const polledAt = performance.now()
      cache.polled(polledAt)
      let trustedAt = polledAt
      await until('memory is no longer trusted', () => {
        const at = performance.now()
        if (remembered(silenced) === undefined) return true
        trustedAt = at
        return false
      })
      expect(trustedAt - polledAt).toBeLessThan(unpolledMaxMs)
      for (let count = 0; count < 3; count++) expect(await statusWithin(300, url, token.as)).toBeUndefined()
      expect(await statusWithin(longMs, `${world.url}/ready`)).toBe(503)
      expect(await statusWithin(longMs, `${world.url}/health`)).toBe(200)
    })
  })

  describe('takes no writes', () => {
    /** Acts like a primary that became a standby: connections break, and new ones can only read. */
    async function turn(readOnly: 'on' | 'off') {
      const admin = openPostgres(service.url)
      await admin.script(`alter database down set default_transaction_read_only = ${readOnly}`)
      await admin.rows(`select pg_terminate_backend(pid) from pg_stat_activity where datname = 'down'`)
      await admin.close()
    }

    test('/ready/writes answers 503 until it accepts writes again; /ready answers 200, and reads work', async () => {
      const untilReadyIs = (expected: number, message?: string) =>
        until(`ready for writes is ${expected}`, async () => {
          const { status, error } = await quietly(health.readyWrites)
          return status === expected && error?.message === message
        })
      onTestFinished(() => turn('off'))
      await turn('on')
      await untilReadyIs(503, 'not ready: the database takes no writes')
      expect((await quietly(health.ready)).status).toBe(200)
      const params = { orgId: scene.tenant.orgId }
      // A request may still meet a connection that was broken and has not noticed.
      const read = async () => (await quietly(orgs.get, { as: scene.tenant.admin.as, params })).status === 200
      await until('reads work', read)
      await until('resolve works', async () => (await ask(scene)).status === 200)
      await turn('off')
      await untilReadyIs(200)
    })
  })

  describe.each(['is shut down', 'has crashed'])('%s', (how) => {
    let stoppedAt: number
    let loggedBefore: number

    beforeAll(async () => {
      await untilFromMemory(scene)
      // The outage before this one must be over, or the log would show both as one.
      const { log } = scene.world
      const countOf = (text: string) => log.filter((line) => line.includes(text)).length
      await until('the last outage is over', () =>
        Promise.resolve(countOf('the database does not answer') === countOf('the database answers again')),
      )
      loggedBefore = log.length
      await (how === 'has crashed' ? service.kill9() : service.stop('fast'))
      stoppedAt = performance.now()
    })

    test('no response comes from the cache after a second without a poll for changes', async () => {
      const statuses = new Set<number>()
      let askedAt = 0
      do {
        askedAt = performance.now()
        const { status } = await ask(scene)
        if (askedAt - stoppedAt > unpolledMaxMs) statuses.add(status)
        else expect([200, 500]).toContain(status)
      } while (askedAt - stoppedAt < 2.5 * unpolledMaxMs)
      expect([...statuses]).toEqual([500])
    })

    test('every request that needs it is answered with a 500 without details, and none with 401', async () => {
      const { tenant } = scene
      const params = { orgId: tenant.orgId }
      const callers = [tenant.admin.as, tenant.machine.as, `Bearer ${tenant.admin.id}_${bearerSecret()}`]
      for (const as of callers) {
        const answers = [
          await quietly(orgs.get, { as, params }),
          await quietly(orgs.update, { as, params, body: { name: 'Changed' } }),
          await ask({ ...scene, token: { as, id: '' } }),
        ]
        for (const { status, error } of answers)
          expect([status, error]).toEqual([
            500,
            { code: 'internal', message: 'the server failed; its log has the reason' },
          ])
      }
    })

    test('the readiness checks answer 503 and the liveness check 200', async () => {
      for (const endpoint of [health.ready, health.readyWrites]) {
        const { status, error } = await quietly(endpoint)
        expect([status, error?.message]).toEqual([503, 'not ready: the database does not answer'])
      }
      expect((await quietly(health.live)).status).toBe(200)
    })

    test('the server needs no restart once it is back, and no data is lost', async () => {
      const { world, tenant, envId } = scene
      await service.restart()
      await until('ready', async () => (await quietly(health.ready)).status === 200)
      const params = { orgId: tenant.orgId }
      expect((await world.call(orgs.get, { as: tenant.admin.as, params })).body.org.name).toBe('Acme')
      const before = (await ask(scene)).body.layers[0]?.secrets.length as number
      await putSecret(world, tenant, envId, `AFTER_${before}`)
      expect((await ask(scene)).body.layers[0]?.secrets).toHaveLength(before + 1)
      await untilFromMemory(scene)
    })

    test('jobs run again once it is back', async () => {
      const { world, tenant } = scene
      const outbox = join(world.server.context.config.dataDir, 'outbox')
      const mails = () => readdir(outbox).catch(() => [])
      const before = (await mails()).length
      const body = { email: `person-${before}@example.com` }
      const params = { orgId: tenant.orgId }
      expect((await world.call(invites.create, { as: tenant.admin.as, params, body })).status).toBe(201)
      await until('the mail is in the outbox', async () => (await mails()).length === before + 1)
    })

    test('the log has one line about the outage and one about its end, however many requests failed', async () => {
      const { log } = scene.world
      const loud = () =>
        log.slice(loggedBefore).flatMap((line) => {
          const { level, message } = JSON.parse(line)
          const isLoud = level === 'warn' || level === 'error'
          // A restarted PostgreSQL may count as another server. Skerry then empties its caches and logs that.
          return isLoud && !message.startsWith('another PostgreSQL server') ? [message] : []
        })
      await until('the line at its end', () => loud().includes('the database answers again'))
      expect(loud()).toEqual([
        'the database does not answer: requests fail and jobs wait until it is back',
        'the database answers again',
      ])
    })
  })

  test('is down, no id and no token from a request gets into the log', () => {
    const lines = scene.world.log.join('')
    expect(lines).toContain('the database does not answer')
    expect(lines).not.toContain(scene.tenant.orgId)
    expect(lines).not.toContain(scene.token.as.slice('Bearer '.length))
  })
})
