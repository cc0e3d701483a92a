import { apps } from '@skerry/contract/apps/endpoints'
import { audit } from '@skerry/contract/audit/endpoints'
import { envs } from '@skerry/contract/envs/endpoints'
import { grants } from '@skerry/contract/grants/endpoints'
import { composition } from '@skerry/contract/groups/endpoints'
import { limits } from '@skerry/contract/limits'
import { sync } from '@skerry/contract/sync/endpoints'
import { describe, expect, test } from 'vitest'
import { engine } from '../../../test/engine.ts'
import { openSync } from '../../../test/scene.ts'
import {
  bind,
  bindingBody,
  composedGroup,
  connect,
  connectionBody,
  deksFor,
  keyOf,
  runNow,
  type Vaulted,
  vaultedBranch,
  vaultedEnv,
  wrapped,
  write,
} from '../../../test/sync-scene.ts'
import { grantKey, newMember, signUp } from '../../../test/tenant.ts'
import { openWorld } from '../../../test/world.ts'
import { newId } from '../../kernel/context.ts'
import { forget } from './jobs.ts'

const { platform, world, tenant } = await openSync()

let count = 0
const newAppName = () => `store-${++count}`
const inOrg = () => ({ as: tenant.admin.as, params: { orgId: tenant.orgId } })
const onConnection = (connectionId: string) => ({ as: tenant.admin.as, params: { orgId: tenant.orgId, connectionId } })
const onBinding = (bindingId: string) => ({ as: tenant.admin.as, params: { orgId: tenant.orgId, bindingId } })
const create = (body: object) => world.call(sync.createBinding, { ...inOrg(), body: body as never })
const list = async () => (await world.call(sync.bindings, inOrg())).body.bindings
const granted = async (env: Vaulted) => {
  const params = { orgId: tenant.orgId, envId: env.id }
  const { body } = await world.call(grants.list, { as: tenant.admin.as, params })
  return body.grants.filter(({ principalType }) => (principalType as string) === 'sync_connection')
}
const trail = async (action: string) =>
  (await world.call(audit.list, { ...inOrg(), query: { action, limit: 50 } })).body.entries
const filled = async () => {
  const env = await vaultedEnv(world, tenant)
  await write(world, tenant, env, 'API_KEY', 'value')
  return env
}

describe('a connection', () => {
  test('is created with the requested id and key, and never shows its credential', async () => {
    const { key, body } = await connectionBody(world, tenant, platform.token, 'the shop')
    const answer = await world.call(sync.createConnection, { ...inOrg(), body })
    expect(answer.status).toBe(201)
    expect(answer.body.connection).toMatchObject({ id: key.id, publicKeyJwk: key.publicKeyJwk, status: 'unverified' })
    expect(world.answers.join()).not.toContain(body.wrappedCredential)
    const again = await connectionBody(world, tenant, platform.token, 'the shop')
    expect((await world.call(sync.createConnection, { ...inOrg(), body: again.body })).status).toBe(409)
    expect((await world.call(sync.createConnection, { ...inOrg(), body: { ...body, name: 'x' } })).status).toBe(409)
  })

  // A server with the embedded database always has a server key.
  test.runIf(engine() === 'postgres')('cannot be created on a server without a server key', async () => {
    const keyless = await openWorld({ ...platform.settings, SKERRY_SERVER_KEY: '' })
    try {
      const { orgId, admin } = await signUp(keyless)
      const { as } = admin
      const connectionId = newId('syncConnection')
      const asked = await keyless.call(sync.publicKey, { as, params: { orgId, connectionId } })
      const { body } = await connectionBody(world, tenant, platform.token)
      const created = await keyless.call(sync.createConnection, { as, params: { orgId }, body })
      for (const { status, error } of [asked, created])
        expect([status, error?.message]).toEqual([409, 'this server has no server key'])
      expect((await keyless.call(sync.connections, { as, params: { orgId } })).body.connections).toEqual([])
    } finally {
      await keyless.close()
    }
  })

  test('is refused with a credential wrapped to another key, without an id, or with a wrong config', async () => {
    const { body } = await connectionBody(world, tenant, platform.token)
    const wrappedCredential = await wrapped(platform.token, await keyOf(world, tenant))
    const baseUrl = 'https://smith.example.com/api-host'
    for (const [wrong, place] of [
      [{ ...body, wrappedCredential }, 'body.wrappedCredential'],
      [{ ...body, id: undefined }, 'body.id'],
      [{ ...body, config: { provider: 'app-platform-c', region: 'x' } }, 'body.config'],
      [{ ...body, config: { provider: 'agent-platform', region: 'eu', baseUrl } }, 'body.config.baseUrl: not together'],
    ] as const) {
      const { status, error } = await world.call(sync.createConnection, { ...inOrg(), body: wrong })
      expect([status, error?.message.startsWith(place)]).toEqual([400, true])
    }
  })

  test('that was never created loses its key after a day', async () => {
    const [unused, used] = [await keyOf(world, tenant), await connect(world, tenant, platform)]
    world.clock.advance(86_401)
    await forget(world.server.context)
    expect((await keyOf(world, tenant, unused.id)).publicKeyJwk).not.toBe(unused.publicKeyJwk)
    expect((await keyOf(world, tenant, used.id)).publicKeyJwk).toBe(used.publicKeyJwk)
  })

  test('reports whether its credential works at a destination, with 400 and ok: false if it does not', async () => {
    const { id } = await connect(world, tenant, platform)
    const verify = (appName = 'shop') =>
      world.call(sync.verifyConnection, {
        ...onConnection(id),
        body: { destination: { provider: 'app-platform-c', appName } },
      })
    expect((await verify()).body).toEqual({ ok: true })
    platform.answer(() => ({ status: 401, body: { error: `no ${platform.token} here` } }))
    const refused = await verify()
    expect([refused.status, refused.body]).toMatchObject([400, { ok: false, error: { code: 'invalid_request' } }])
    expect(refused.error?.message).not.toContain(platform.token)
    const [found] = (await world.call(sync.connections, inOrg())).body.connections.filter((one) => one.id === id)
    expect(found).toMatchObject({ status: 'failing' })
    expect((await verify('Not A Name')).error?.message).toMatch(/^body\.destination/)
  })

  test('refuses an inconsistent destination with the same message when it is verified and when it is bound', async () => {
    const siteId = '11111111-2222-4333-8444-555555555555'
    const lacking = { provider: 'site-host', siteId, contexts: ['branch'] }
    const cases: [config: { provider: string }, destination: object, place: string][] = [
      [{ provider: 'site-host', accountId: 'acme' } as never, lacking, 'branch: needed'],
      [
        { provider: 'site-host', accountId: 'acme' } as never,
        { ...lacking, contexts: ['production'], branch: 'main' },
        'branch: needed',
      ],
      [
        { provider: 'frontend-cloud' },
        { provider: 'frontend-cloud', projectId: 'prj_a', targets: ['production'], gitBranch: 'main' },
        'gitBranch: only',
      ],
    ]
    for (const [config, destination, place] of cases) {
      const { key, body } = await connectionBody(world, tenant, 'token')
      await world.call(sync.createConnection, { ...inOrg(), body: { ...body, config: config as never } })
      const verified = await world.call(sync.verifyConnection, {
        ...onConnection(key.id),
        body: { destination: destination as never },
      })
      const bound = await create({ ...(await bindingBody(key, [await filled()], 'unused')), destination })
      expect(verified.status).toBe(400)
      expect(verified.error?.message.startsWith(`body.destination: ${place}`)).toBe(true)
      expect([bound.status, bound.error?.message]).toEqual([400, verified.error?.message])
    }
  })

  test('accepts a new credential under the same key', async () => {
    const key = await connect(world, tenant, { token: 'fm2_another' })
    const env = await filled()
    const binding = await bind(world, tenant, key, [env], newAppName())
    expect((await runNow(world, tenant, binding)).error).toMatch(/401/)
    const body = { wrappedCredential: await wrapped(platform.token, key) }
    expect((await world.call(sync.updateConnection, { ...onConnection(key.id), body })).status).toBe(200)
    expect((await runNow(world, tenant, binding)).status).toBe('succeeded')
  })

  test('is deleted together with its bindings, grants and key pair, and a running push writes no more', async () => {
    const [connection, env, app] = [await connect(world, tenant, platform), await filled(), newAppName()]
    const binding = await bind(world, tenant, connection, [env], app)
    const [asked, gate] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
    platform.answer(async () => {
      asked.resolve()
      await gate.promise
      return undefined
    })
    const running = runNow(world, tenant, binding)
    await asked.promise
    expect((await world.call(sync.deleteConnection, onConnection(connection.id))).status).toBe(200)
    gate.resolve()
    expect(await running).toMatchObject({
      status: 'failed',
      pushed: [],
      error: 'The binding was deleted during the run.',
    })
    expect([platform.values(app).size, await granted(env)]).toEqual([0, []])
    expect((await list()).some(({ id }) => id === binding.id)).toBe(false)
    expect((await trail('sync_binding.deleted'))[0]).toMatchObject({
      resourceId: binding.id,
      metadata: { cause: 'sync_connection.deleted' },
    })
    expect((await keyOf(world, tenant, connection.id)).publicKeyJwk).not.toBe(connection.publicKeyJwk)
  })
})

describe('a binding', () => {
  test('is refused without any change if its keys, acknowledgement or destination are wrong', async () => {
    const [env, connection] = [await filled(), await connect(world, tenant, platform)]
    const group = await composedGroup(world, tenant, env)
    await write(world, tenant, group, 'SHARED', 'value')
    const stranger = await filled()
    const good = await bindingBody(connection, [env, group], newAppName())
    const [envDek, groupDek] = good.wrappedDeks
    const otherKey = await deksFor([env, group], await keyOf(world, tenant))
    const swapped = await deksFor([{ ...env, dek: group.dek }, group], connection)
    const cases: [object, number, RegExp][] = [
      [{ acknowledgedDecryption: false }, 400, /^body\.acknowledgedDecryption/],
      [{ acknowledgedDecryption: undefined }, 400, /acknowledgedDecryption/],
      [{ wrappedDeks: [] }, 400, /^body\.wrappedDeks: the key of/],
      [{ wrappedDeks: [envDek] }, 400, /^body\.wrappedDeks: the key of/],
      [{ wrappedDeks: [envDek, groupDek, groupDek] }, 400, /^body\.wrappedDeks\.2.*twice/],
      [{ wrappedDeks: otherKey }, 400, /^body\.wrappedDeks\.0\.wrappedDek/],
      [{ wrappedDeks: swapped }, 400, /not the key of this environment/],
      [
        { wrappedDeks: [...good.wrappedDeks, ...(await deksFor([stranger], connection))] },
        400,
        /^body\.wrappedDeks\.2/,
      ],
      [{ environmentId: group.id }, 400, /^body\.environmentId/],
      [{ destination: { provider: 'app-platform-c', appName: 'A B' } }, 400, /^body\.destination/],
      [{ destination: { provider: 'app-platform-z', appName: 'a' } }, 400, /^body\.destination/],
    ]
    for (const [change, status, message] of cases) {
      const answer = await create({ ...good, ...change })
      expect([answer.status, answer.error?.message]).toEqual([status, expect.stringMatching(message)])
    }
    expect([await granted(env), await granted(group)]).toEqual([[], []])
    const keyless = await newMember(world, tenant, 'admin')
    const { status } = await world.call(sync.createBinding, { ...inOrg(), as: keyless.as, body: good })
    expect(status).toBe(403)
    expect((await create(good)).status).toBe(201)
    expect([await granted(env), await granted(group)].map((of) => of.length)).toEqual([1, 1])
  })

  test('gets no key from a holder whose access ends, of no layer, when it is created or changed', async () => {
    const [env, connection] = [await filled(), await connect(world, tenant, platform)]
    const group = await composedGroup(world, tenant, env)
    await write(world, tenant, group, 'SHARED', 'value')
    const admin = await newMember(world, tenant, 'admin')
    const give = (envId: string, more: object = {}) => grantKey(world, tenant, envId, admin, more)
    await give(env.id)
    await give(group.id, { seconds: limits.grantSecondsMin })
    const body = await bindingBody(connection, [env, group], newAppName())
    const refused = await world.call(sync.createBinding, { ...inOrg(), as: admin.as, body })
    const words = /^your own access ends at .* a sync connection keeps the key: ask an admin/
    expect([refused.status, refused.error?.message]).toEqual([409, expect.stringMatching(words)])
    expect([await granted(env), await granted(group)].flat()).toEqual([])
    const { id } = (await create(body)).body.binding
    const { wrappedDeks, acknowledgedDecryption } = body
    const again = { as: admin.as, body: { wrappedDeks, acknowledgedDecryption } }
    expect((await world.call(sync.updateBinding, { ...onBinding(id), ...again })).status).toBe(409)
    await give(group.id)
    expect((await world.call(sync.updateBinding, { ...onBinding(id), ...again })).status).toBe(200)
    await world.call(sync.deleteBinding, onBinding(id))
  })

  test('is refused if it would write the same names as another at one destination, and the error names the other', async () => {
    const [one, other, connection] = [await filled(), await filled(), await connect(world, tenant, platform)]
    const app = newAppName()
    const first = await bind(world, tenant, connection, [one], app)
    const second = await bindingBody(connection, [other], app)
    const { status, error } = await create(second)
    expect([status, error?.message]).toEqual([409, expect.stringContaining(first.id)])
    const apart = await create({ ...second, nameTransform: { prefix: 'OTHER_' } })
    expect(apart.status).toBe(201)
    const body = { nameTransform: {} }
    expect((await world.call(sync.updateBinding, { ...onBinding(apart.body.binding.id), body })).status).toBe(409)
    // Names that are added later conflict only at the run.
    await runNow(world, tenant, first)
    await write(world, tenant, one, 'OTHER_API_KEY', 'mine')
    await runNow(world, tenant, first)
    const run = await runNow(world, tenant, { id: apart.body.binding.id })
    expect(run.failures).toEqual([{ name: 'OTHER_API_KEY', reason: `The binding ${first.id} writes this name.` }])
  })

  test('that is deleted revokes the keys that no other binding of its connection needs', async () => {
    const [env, connection] = [await filled(), await connect(world, tenant, platform)]
    const group = await composedGroup(world, tenant, env)
    const one = await bind(world, tenant, connection, [env, group], newAppName())
    const two = await bind(world, tenant, connection, [env, group], newAppName())
    await world.call(sync.deleteBinding, onBinding(one.id))
    expect([await granted(env), await granted(group)].map((of) => of.length)).toEqual([1, 1])
    await world.call(sync.deleteBinding, onBinding(two.id))
    expect([await granted(env), await granted(group)]).toEqual([[], []])
  })

  test('is deleted with its environment, branch or application, and the audit log says why', async () => {
    const connection = await connect(world, tenant, platform)
    const [env, parent] = [await filled(), await filled()]
    const branch = await vaultedBranch(world, tenant, parent)
    const group = await composedGroup(world, tenant, env)
    const bindings = [
      await bind(world, tenant, connection, [env, group], newAppName()),
      await bind(world, tenant, connection, [branch, parent], newAppName()),
    ]
    const { applicationId } = (
      await world.call(envs.get, { ...inOrg(), params: { orgId: tenant.orgId, envId: env.id } })
    ).body.environment
    await world.call(apps.delete, { ...inOrg(), params: { orgId: tenant.orgId, appId: applicationId as string } })
    await world.call(envs.delete, { ...inOrg(), params: { orgId: tenant.orgId, envId: branch.id } })
    const ended = async () => (await trail('sync_binding.deleted')).map(({ resourceId }) => resourceId)
    await expect.poll(ended).toEqual(expect.arrayContaining(bindings.map(({ id }) => id)))
    const [entry] = await trail('sync_binding.deleted')
    expect(entry).toMatchObject({ actorType: 'system', metadata: { cause: 'its environment was deleted' } })
    await expect.poll(async () => [await granted(group), await granted(parent)]).toEqual([[], []])
  })

  test('fails with the reason if it lacks the key of a newly composed group, until PATCH adds the key', async () => {
    const [env, connection, app] = [await filled(), await connect(world, tenant, platform), newAppName()]
    const binding = await bind(world, tenant, connection, [env], app)
    const group = await composedGroup(world, tenant, env)
    await write(world, tenant, group, 'SHARED', 'value')
    expect(await runNow(world, tenant, binding)).toMatchObject({
      status: 'failed',
      error: expect.stringMatching(/has no key to/),
    })
    const found = (await list()).find(({ id }) => id === binding.id)
    expect(found).toMatchObject({ missingEnvironmentIds: [group.id], lastError: expect.stringContaining('no key') })
    const wrappedDeks = await deksFor([group], connection)
    const give = (body: object) => world.call(sync.updateBinding, { ...onBinding(binding.id), body })
    expect((await give({ wrappedDeks })).status).toBe(400)
    expect((await give({ wrappedDeks, acknowledgedDecryption: true })).status).toBe(200)
    expect(await runNow(world, tenant, binding)).toMatchObject({ status: 'succeeded', pushed: ['API_KEY', 'SHARED'] })
    const params = { orgId: tenant.orgId, envId: env.id, groupId: group.groupId }
    await world.call(composition.delete, { ...inOrg(), params })
    await expect.poll(() => granted(group)).toEqual([])
  })

  test('that is disabled does not run', async () => {
    const [env, connection] = [await filled(), await connect(world, tenant, platform)]
    const binding = await bind(world, tenant, connection, [env], newAppName(), { enabled: false, mode: 'auto' })
    expect((await world.call(sync.run, onBinding(binding.id))).status).toBe(409)
  })
})
