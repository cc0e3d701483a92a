import { health } from '@skerry/contract/health/endpoints'
import { secrets } from '@skerry/contract/secrets/endpoints'
import { afterEach, describe, expect, test } from 'vitest'
import { unpolledMaxMs } from '../../src/features/resolve/cache.ts'
import { ciphertext } from '../blobs.ts'
import { type PostgresService, startPostgres } from '../services/postgres.ts'
import { mountSmallDisk } from '../services/small-disk.ts'
import { grantKey, newToken, putSecret } from '../tenant.ts'
import { until } from '../until.ts'
import { call } from '../world.ts'
import { secretsAt, startLoad } from './load.ts'
import { missing, openPair, openScene, type Pair, type Scene } from './scene.ts'

/** The longest time to recover. A server that waited for dead connections would need more: 35 s for each. */
const recoversWithinMs = 25_000
/** The longest time to find the new primary while the old one still answers. Only a new connection can reach it. */
const findsOutMs = 15_000

describe.skipIf(missing)(`two servers${missing ? ` (skipped: ${missing})` : ''}`, () => {
  const closing: (() => Promise<void>)[] = []
  afterEach(async () => {
    for (const close of closing.splice(0).reverse()) await close()
  })

  async function openBehindProxy(): Promise<{ pair: Pair; scene: Scene }> {
    const pair = await openPair()
    closing.push(pair.close)
    await pair.primary.createDatabase('skerry')
    const scene = await openScene(pair.proxy.urlOf('skerry'))
    closing.push(scene.close)
    return { pair, scene }
  }
  /** Lists Skerry's sessions, except those whose COMMIT waits for the standby: they outlive their client. */
  const sessionsAt = (database: PostgresService) =>
    database.ask(
      `select pid from pg_stat_activity where application_name = 'skerry' and wait_event is distinct from 'SyncRep'`,
    )

  test('lose no write and return no stale data when the primary is killed and its standby takes over', async () => {
    const { pair, scene } = await openBehindProxy()
    const load = startLoad(scene, unpolledMaxMs)
    await load.untilMoreIsWritten()
    await pair.primary.kill9()
    await pair.failOver()
    await load.untilMoreIsWritten()
    expect(await load.end()).toEqual([])
  })

  test('recover soon after the primary stops answering, and do not use it when it comes back', async () => {
    const { pair, scene } = await openBehindProxy()
    const load = startLoad(scene, unpolledMaxMs)
    await load.untilMoreIsWritten()
    pair.primary.freeze()
    await pair.failOver()
    expect(await load.untilMoreIsWritten()).toBeLessThan(recoversWithinMs)
    pair.primary.thaw()
    await load.untilMoreIsWritten()
    await until('no session is left on the old primary', async () => (await sessionsAt(pair.primary)).length === 0)
    expect(await load.end()).toEqual([])
  })

  test('find the new primary even if the old one still answers on open connections', async () => {
    const { pair, scene } = await openBehindProxy()
    const load = startLoad(scene, unpolledMaxMs + findsOutMs)
    await load.untilMoreIsWritten()
    await pair.failOver()
    expect(await load.untilMoreIsWritten()).toBeLessThan(findsOutMs)
    expect(await load.end()).toEqual([])
    await until('no session is left on the old primary', async () => (await sessionsAt(pair.primary)).length === 0)
  })

  test('keep working when the primary restarts, and when one of the two is paused or killed', async () => {
    const { pair, scene } = await openBehindProxy()
    const load = startLoad(scene, unpolledMaxMs)
    await load.untilMoreIsWritten()
    await pair.primary.restart()
    await load.untilMoreIsWritten()
    const [stopped, other] = scene.servers
    process.kill(stopped.pid, 'SIGSTOP')
    await load.untilMoreIsWritten([other])
    process.kill(stopped.pid, 'SIGCONT')
    await load.untilMoreIsWritten()
    expect(await load.end()).toEqual([])
    await stopped.kill9()
    const params = { orgId: scene.tenant.orgId, envId: scene.envId, name: 'AFTER' }
    const as = scene.tenant.admin.as
    expect((await call(other.url, [], secrets.put, { as, params, body: { ciphertext: ciphertext() } })).status).toBe(
      201,
    )
    expect((await secretsAt(scene, other.url))?.has('AFTER')).toBe(true)
  })

  test('return nothing of a database after a restored copy has replaced it', async () => {
    const { pair, scene } = await openBehindProxy()
    const { primary } = pair
    const alone = async (statements: string[]) => {
      await primary.ask('alter database skerry allow_connections false')
      await primary.ask(`select pg_terminate_backend(pid, 5000) from pg_stat_activity where datname = 'skerry'`)
      for (const statement of statements) await primary.ask(statement)
    }
    const untilAnswered = (wanted: (secrets: Map<string, string>) => boolean) =>
      until('both servers answer', async () => {
        const answers = await Promise.all(scene.servers.map(({ url }) => secretsAt(scene, url)))
        return answers.every((secrets) => secrets && wanted(secrets))
      })
    const rounds = 4
    for (let round = 0; round < rounds; round++)
      await alone([`create database copy_${round} template skerry`, 'alter database skerry allow_connections true'])
    await untilAnswered(() => true)
    for (let round = 0; round < rounds; round++) {
      await until('it is written', () =>
        putSecret(scene.world, scene.tenant, scene.envId, 'LATER').catch(() => undefined),
      )
      const later = await newToken(scene.world, scene.tenant)
      await grantKey(scene.world, scene.tenant, scene.envId, later)
      await untilAnswered((secrets) => secrets.has('LATER'))
      const laterScene = { ...scene, token: later }
      for (let n = 0; n < 3; n++) for (const { url } of scene.servers) await secretsAt(laterScene, url)
      await alone([`alter database skerry rename to gone_${round}`, `alter database copy_${round} rename to skerry`])
      const exchangedAtMs = performance.now()
      let answers = 0
      while (answers < 20 || performance.now() < exchangedAtMs + 3 * unpolledMaxMs) {
        const sentAtMs = performance.now()
        const statuses = await Promise.all(scene.servers.map(({ url }) => statusOf(url, scene.envId, later.as)))
        const seen = await Promise.all(scene.servers.map(({ url }) => secretsAt(scene, url)))
        if (sentAtMs < exchangedAtMs + unpolledMaxMs) continue
        // The token and the secret exist only in the database that was replaced.
        for (const status of statuses) expect([401, 500]).toContain(status)
        for (const secrets of seen) if (secrets) expect([...secrets.keys()]).toEqual(['FIRST'])
        if (seen.every((secrets) => secrets !== undefined)) answers++
      }
    }
  })
})

const disk = missing ? null : mountSmallDisk(96)
const diskMissing = missing ?? (disk ? undefined : 'this user may not mount a file system')

describe.skipIf(diskMissing)(`a full disk${diskMissing ? ` (skipped: ${diskMissing})` : ''}`, () => {
  test('stops writes but not reads, shows in /ready/writes only, and stops nothing once there is free space', async () => {
    const postgres = (await startPostgres()) as PostgresService
    await postgres.ask(`create tablespace small location '${disk?.path}'`)
    await postgres.ask('create database skerry template template0 tablespace small')
    const scene = await openScene(new URL('/skerry', postgres.url).href)
    const ready = (endpoint: typeof health.ready | typeof health.readyWrites) =>
      Promise.all(scene.servers.map(async ({ url }) => (await call(url, [], endpoint)).status))
    const write = async (url: string, name: string) => {
      const params = { orgId: scene.tenant.orgId, envId: scene.envId, name }
      const body = { ciphertext: ciphertext(40_000) }
      return call(url, [], secrets.put, { as: scene.tenant.admin.as, params, body })
    }
    const acknowledged = new Set<string>()
    disk?.fill()
    for (const [server, { url }] of scene.servers.entries())
      await until('a write is refused', async () => {
        const name = `S${server}_${acknowledged.size}`
        const { status, error } = await write(url, name)
        if (status < 300) acknowledged.add(name)
        return error?.message === 'the disk of the database is full: nothing was changed'
      })
    expect(await ready(health.readyWrites)).toEqual([503, 503])
    expect(await ready(health.ready)).toEqual([200, 200])
    for (const { url } of scene.servers) expect((await secretsAt(scene, url))?.has('FIRST')).toBe(true)
    disk?.makeRoom()
    expect(await ready(health.readyWrites)).toEqual([200, 200])
    for (const [server, { url }] of scene.servers.entries()) {
      expect((await write(url, `ROOM_${server}`)).status).toBe(201)
      acknowledged.add(`ROOM_${server}`)
    }
    const there = await secretsAt(scene, scene.servers[1].url)
    expect([...acknowledged].filter((name) => !there?.has(name))).toEqual([])
    await scene.close()
    await postgres.dispose()
    disk?.dispose()
  })
})

/** Returns the status of a resolve, including 500 while the database is away. */
async function statusOf(url: string, envId: string, as: string): Promise<number> {
  const response = await fetch(`${url}/v1/resolve?env=${envId}`, { headers: { authorization: as } })
  await response.arrayBuffer()
  return response.status
}
