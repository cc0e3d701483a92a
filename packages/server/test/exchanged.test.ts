import { resolve } from '@skerry/contract/resolve/endpoints'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { engine } from './engine.ts'
import { type PostgresService, startPostgres } from './services/postgres.ts'
import { type Actor, grantKey, newApp, newEnv, newToken, putSecret, signUp, type Tenant } from './tenant.ts'
import { until } from './until.ts'
import { call, openWorld, type World } from './world.ts'

describe.runIf(engine() === 'postgres')('after a restored copy has replaced the database', () => {
  let service: PostgresService
  let world: World
  let tenant: Tenant
  let envId: string
  let reader: Actor
  /** A token that was registered after the backup. */
  let later: Actor
  /** The key that signed a session after the backup. */
  let laterKid: string

  const ask = (as: string) => call(world.url, world.answers, resolve.get, { as, query: { env: envId } })
  const memory = ({ id }: Actor) => world.server.context.cache.find(`${id} env=${envId}`, 0)
  /** Runs statements while nobody else is connected, as PostgreSQL requires for them. */
  async function alone(...statements: string[]) {
    await service.ask('alter database skerry allow_connections false')
    await service.ask(`select pg_terminate_backend(pid, 5000) from pg_stat_activity where datname = 'skerry'`)
    for (const statement of statements) await service.ask(statement)
  }
  async function sign(): Promise<string> {
    const { sessionTokens, db, now } = world.server.context
    const claims = { sessionId: 'ses_1', userId: 'usr_1' }
    const jwt = await sessionTokens.sign(db, claims, new Date(now().getTime() + 60_000).toISOString())
    return JSON.parse(Buffer.from(jwt.split('.')[0] as string, 'base64url').toString()).kid
  }

  beforeAll(async () => {
    service = (await startPostgres({ fsync: false })) as PostgresService
    world = await openWorld({ SKERRY_DATABASE_URL: await service.createDatabase('skerry'), SKERRY_PLANS: 'enforced' })
    tenant = await signUp(world)
    envId = (await newEnv(world, tenant, (await newApp(world, tenant)).id)).id
    reader = await newToken(world, tenant)
    await grantKey(world, tenant, envId, reader)
    await putSecret(world, tenant, envId, 'FIRST')
    await alone('create database copy template skerry', 'alter database skerry allow_connections true')
    await until('it answers', async () => (await ask(reader.as)).status === 200)

    const { db, meter, quotaCache } = world.server.context
    later = await newToken(world, tenant)
    await grantKey(world, tenant, envId, later)
    await putSecret(world, tenant, envId, 'LATER')
    laterKid = await sign()
    expect(await sign()).toBe(laterKid)
    for (const actor of [reader, later])
      await until('it is answered from memory', async () => {
        return (await ask(actor.as)).status === 200 && memory(actor) !== undefined
      })
    await db.rows(
      `insert into usage_counts (org_id, metric, day, quantity) values ($1, 'resolves', $2::date, 1000000000)`,
      [tenant.orgId, world.clock.now().toISOString()],
    )
    meter.countResolve(tenant.orgId)
    await meter.flush()
    expect(meter.over('resolves', tenant.orgId)).toBeDefined()
    expect(quotaCache.reserve(envId, 1)).toBe(true)
    await alone('alter database skerry rename to gone', 'alter database copy rename to skerry')
    await until('the server has noticed', () => world.log.some((line) => line.includes('another PostgreSQL server')))
    await until('it answers', async () => (await ask(reader.as)).status !== 500)
  })
  afterAll(async () => {
    await world.close()
    await service.dispose()
  })

  test('no response and no token comes from caches of the old database', async () => {
    const { status, body } = await ask(reader.as)
    expect([status, body.layers[0]?.secrets.map(({ name }) => name)]).toEqual([200, ['FIRST']])
    expect((await ask(later.as)).status).toBe(401)
  })

  test('the server signs sessions with a key in the new database, so that other servers can verify them', async () => {
    const kid = await sign()
    expect(kid).not.toBe(laterKid)
    const { db } = world.server.context
    expect(await db.rows('select id from signing_keys where id = $1', [kid])).toHaveLength(1)
  })

  test('the server counts quotas again, and records the use of tokens again', async () => {
    const { db, meter, quotaCache } = world.server.context
    expect(meter.over('resolves', tenant.orgId)).toBeUndefined()
    expect(quotaCache.reserve(envId, 1)).toBe(false)
    await until('the use of the token is written', async () => {
      const rows = await db.rows('select 1 from service_token_uses where token_id = $1', [reader.id])
      return rows.length === 1
    })
  })
})
