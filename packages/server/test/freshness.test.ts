import { apps } from '@skerry/contract/apps/endpoints'
import { branches } from '@skerry/contract/branches/endpoints'
import { grants } from '@skerry/contract/grants/endpoints'
import { composition } from '@skerry/contract/groups/endpoints'
import { resolve } from '@skerry/contract/resolve/endpoints'
import { tokens } from '@skerry/contract/tokens/endpoints'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { RunningServer } from '../src/server.ts'
import { wrappedKey } from './blobs.ts'
import { engine } from './engine.ts'
import { held } from './held.ts'
import {
  type Actor,
  grantKey,
  newApp,
  newEnv,
  newGroup,
  newGroupEnv,
  newToken,
  putSecret,
  signUp,
  type Tenant,
} from './tenant.ts'
import { call, openWorld, start, type World } from './world.ts'

/** The API promises changes within a second. Servers poll more often, which leaves the rest of it to a busy machine. */
const withinMs = 1000

describe.runIf(engine() === 'postgres')('two servers on one PostgreSQL', () => {
  let world: World
  let other: RunningServer
  let tenant: Tenant
  let envId: string
  let token: Actor

  beforeAll(async () => {
    world = await openWorld()
    other = await start({ ...world.server.context.config, port: 0 }, world.log, world.clock.now)
    tenant = await signUp(world)
    envId = (await newEnv(world, tenant, (await newApp(world, tenant)).id)).id
    token = await newToken(world, tenant)
    await grantKey(world, tenant, envId, token)
    await putSecret(world, tenant, envId, 'FIRST')
  })
  afterAll(async () => {
    await other.close()
    await world.close()
  })

  const askOther = (as = token.as, more = {}) =>
    call(other.url, world.answers, resolve.get, { as, query: { env: envId, ...more } })

  /**
   * Keeps asking the other server, as programs do, so that its cache is warm when the change comes -> the time at which
   * the last request with the old answer was sent. The duration of the first new answer depends more on the machine.
   */
  async function until(
    changed: (answer: Awaited<ReturnType<typeof askOther>>) => boolean,
    as = token.as,
  ): Promise<number> {
    const startedAt = performance.now()
    for (let lastOldMs = 0; ; ) {
      const sentMs = performance.now() - startedAt
      if (changed(await askOther(as))) return lastOldMs
      lastOldMs = sentMs
      if (lastOldMs > 60_000) return Number.POSITIVE_INFINITY
    }
  }

  /** Waits until answers come from the cache. Without that the suite would prove nothing. */
  async function warm(as = token.as) {
    await until(() => other.context.cache.find(`${idOf(as)} env=${envId}`, Date.now()) !== undefined, as)
  }
  const idOf = (as: string) => as.slice('Bearer '.length).split('_').slice(0, 2).join('_')

  test('a write through one is visible through the other within a second', async () => {
    for (const name of ['W1', 'W2', 'W3', 'W4', 'W5']) {
      await warm()
      await putSecret(world, tenant, envId, name)
      const tookMs = await until(({ body }) => body.layers.some((layer) => layer.secrets.some((s) => s.name === name)))
      expect(tookMs).toBeLessThan(withinMs)
    }
  })

  test('a group that is composed or removed is visible through the other within a second', async () => {
    const group = await newGroup(world, tenant)
    const groupEnv = await newGroupEnv(world, tenant, group.id)
    await grantKey(world, tenant, groupEnv.id, token)
    await warm()
    const params = { orgId: tenant.orgId, envId }
    await world.call(composition.set, { as: tenant.admin.as, params, body: { groupId: group.id } })
    expect(await until(({ body }) => body.layers.length === 2)).toBeLessThan(withinMs)
    await warm()
    await world.call(composition.delete, { as: tenant.admin.as, params: { ...params, groupId: group.id } })
    expect(await until(({ body }) => body.layers.length === 1)).toBeLessThan(withinMs)
  })

  test('a revoked grant and a revoked token are refused within a second', async () => {
    const second = await newToken(world, tenant)
    const grant = await grantKey(world, tenant, envId, second)
    await warm(second.as)
    const params = { orgId: tenant.orgId, envId, grantId: grant.id }
    await world.call(grants.delete, { as: tenant.admin.as, params })
    expect(await until(({ status }) => status === 403, second.as)).toBeLessThan(withinMs)
    await grantKey(world, tenant, envId, second)
    await until(({ status }) => status === 200, second.as)
    await warm(second.as)
    await world.call(tokens.revoke, { as: tenant.admin.as, params: { orgId: tenant.orgId, tokenId: second.id } })
    expect(await until(({ status }) => status === 401, second.as)).toBeLessThan(withinMs)
  })

  test('a deleted application is answered with 404 within a second', async () => {
    const app = await newApp(world, tenant)
    const doomed = await newEnv(world, tenant, app.id)
    const ask = () => call(other.url, world.answers, resolve.get, { as: tenant.admin.as, query: { env: doomed.id } })
    expect((await ask()).status).toBe(200)
    await world.call(apps.delete, { as: tenant.admin.as, params: { orgId: tenant.orgId, appId: app.id } })
    const startedAt = performance.now()
    for (let sentMs = 0; (await ask()).status !== 404; sentMs = performance.now() - startedAt)
      expect(sentMs).toBeLessThan(withinMs)
  })

  test('a branch created through one can be read through the other', async () => {
    const params = { orgId: tenant.orgId, envId }
    const body = { slug: 'shared-branch', wrappedDek: wrappedKey() }
    await world.call(branches.create, { as: tenant.admin.as, params, body })
    expect((await askOther(tenant.admin.as, { branch: 'shared-branch' })).status).toBe(200)
  })

  test('an open transaction does not delay the changes that others commit', async () => {
    await warm()
    const open = await held(world.server.context.db, (tx) =>
      tx.rows('update organizations set updated_at = now() where id = $1', [tenant.orgId]),
    )
    await putSecret(world, tenant, envId, 'BESIDE')
    const tookMs = await until(({ body }) =>
      body.layers.some((layer) => layer.secrets.some((s) => s.name === 'BESIDE')),
    )
    await open.commit()
    expect(tookMs).toBeLessThan(withinMs)
  })

  test('a change of a long transaction is noticed once it commits, even after several polls', async () => {
    const second = await newToken(world, tenant)
    await grantKey(world, tenant, envId, second)
    const revoking = await held(world.server.context.db, (tx) =>
      tx.rows('update service_tokens set revoked_at = now() where id = $1', [second.id]),
    )
    await warm()
    await putSecret(world, tenant, envId, 'MEANWHILE')
    await until(({ body }) => body.layers.some((layer) => layer.secrets.some((s) => s.name === 'MEANWHILE')))
    await warm(second.as)
    await revoking.commit()
    expect(await until(({ status }) => status === 401, second.as)).toBeLessThan(withinMs)
  })
})
