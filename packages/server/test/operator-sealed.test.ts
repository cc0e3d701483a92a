import { audit } from '@skerry/contract/audit/endpoints'
import { leases } from '@skerry/contract/leases/endpoints'
import { logSink } from '@skerry/contract/log-sink/endpoints'
import { me } from '@skerry/contract/me/endpoints'
import { rotation } from '@skerry/contract/rotation/endpoints'
import { secondFactor } from '@skerry/contract/second-factor/endpoints'
import { signIn } from '@skerry/contract/sign-in/endpoints'
import { sync } from '@skerry/contract/sync/endpoints'
import { vaultWebhooks } from '@skerry/contract/vault/webhooks'
import { beforeEach, describe, expect, onTestFinished, test } from 'vitest'
import { seal } from '../src/features/audit-proof/seal.ts'
import { sinkBody } from './log-sink-steps.ts'
import { type Operated, operate as operateIn } from './operate.ts'
import { fromOwnPage, type SignedInBrowser, setUp, signInByLink } from './people.ts'
import { generatedRotation, keyedEnv, newKeyedEnv, newRotation } from './rotation-steps.ts'
import { stopSchedules } from './state.ts'
import { bind, connect, deksFor, keyOf, type Vaulted, vaultedEnv, wrapped, write } from './sync-scene.ts'
import { signUp, type Tenant } from './tenant.ts'
import { totpCode } from './totp.ts'
import { newProject, sent } from './vault-scene.ts'
import { builtIn, serverKey as firstKey, openWorld, start, type World } from './world.ts'

// The operator lists and drops data under a server key with `skerry-server sealed`.

const nextKey = Buffer.alloc(32, 8).toString('base64url')
const other = Buffer.alloc(32, 9).toString('base64url')

const everything = {
  'signing-key': 1,
  'totp-secret': 1,
  broker: 1,
  rotator: 1,
  sync: 1,
  'export-key': 1,
  'log-sink-headers': 1,
  'vault-webhook-secret': 1,
}

let world: World
let tenant: Tenant
let env: Vaulted
let connectionId: string
let bindingId: string
let firstOrg: string
let secret: string
let browser: SignedInBrowser

beforeEach(async () => {
  world = await openWorld(builtIn)
  onTestFinished(() => world.close())
  tenant = await signUp(world)
  await stopSchedules(world)
  const first = await setUp(world)
  browser = first
  firstOrg = (await world.call(me.get, { as: first.as })).body.orgs[0]?.id as string
  secret = (await world.call(secondFactor.enrollTotp, { as: first.as })).body.secret
  await world.call(secondFactor.confirmTotp, { as: first.as, body: { code: totpCode(secret, world.clock.now()) } })
  env = await vaultedEnv(world, tenant)
  await write(world, tenant, env, 'NAME', 'value')
  const connection = await connect(world, tenant, { token: 'fo1_token' })
  connectionId = connection.id
  bindingId = (await bind(world, tenant, connection, [env], 'shop')).id
  const keyed = await newKeyedEnv(world, tenant)
  await newRotation(world, tenant, await generatedRotation(world, tenant, keyed))
  const params = { orgId: tenant.orgId }
  const as = tenant.admin.as
  await sent(world, leases.brokerKey, { as, params })
  await sent(world, logSink.set, { as, params, body: sinkBody() })
  const project = await newProject(world, tenant)
  const body = { url: 'https://hooks.example.com/' }
  await sent(world, vaultWebhooks.create, { as, params: { ...params, projectId: project.id }, body })
  await seal(world.server.context)
})

/** Runs `skerry-server sealed` with these keys while the server is stopped. */
async function sealed(keys: { now?: string; previous?: string }, ...args: string[]): Promise<Operated> {
  const { dataDir, databaseUrl } = world.server.context.config
  await world.server.close()
  const settings = {
    SKERRY_DATA_DIR: dataDir,
    SKERRY_DATABASE_URL: databaseUrl ?? '',
    SKERRY_SERVER_KEY: keys.now ?? nextKey,
    ...(keys.previous === undefined ? {} : { SKERRY_SERVER_KEY_PREVIOUS: keys.previous }),
  }
  return operateIn(settings, ['sealed', ...args])
}

async function restart(serverKey: string): Promise<void> {
  const { config } = world.server.context
  world.server = await start({ ...config, serverKey, serverKeyPrevious: null }, world.log, world.clock.now)
  world.url = world.server.url
}

const outcome = ({ code, stdout, stderr }: Operated) => `${code} ${stdout}${stderr}`

async function dropsOf(orgId: string, as: string) {
  const query = { action: 'org.sealed_data_dropped' }
  const { entries } = await sent(world, audit.list, { as, params: { orgId }, query })
  return entries.map(({ actorType, resourceId, metadata }) => ({ actorType, resourceId, metadata }))
}

describe('data under a lost server key', () => {
  test('is listed and dropped by the operator, and people and admins set it up again', async () => {
    const listed = await sealed({}, 'list')
    expect(listed.stdout).toContain('No key opens:\n  1 key that signs sessions\n  1 authenticator app\n')
    expect(JSON.parse((await sealed({}, 'list', '--json')).stdout)).toEqual({
      current: {},
      previous: {},
      none: everything,
    })
    await expect(restart(nextKey)).rejects.toThrow('If that key is lost, see `skerry-server sealed list`')

    const shown = await sealed({}, 'drop', '--lost')
    expect(shown.code).toBe(1)
    expect(shown.stdout).toContain('To drop:\n  1 key that signs sessions\n')
    expect(shown.stderr).toContain('Nothing was changed. Run again with --yes')
    expect(JSON.parse((await sealed({}, 'list', '--json')).stdout).none).toEqual(everything)

    const done = await sealed({}, 'drop', '--lost', '--yes', '--json')
    expect([done.code, JSON.parse(done.stdout)]).toEqual([0, { dropped: everything }])
    expect(outcome(await sealed({}, 'drop', '--lost', '--yes'))).toContain(
      '1 skerry-server: The server key opens all data',
    )
    await restart(nextKey)

    // A browser that is signed in stays so.
    const refreshed = await world.call(signIn.refresh, { headers: { cookie: browser.cookie, ...fromOwnPage } })
    expect(refreshed.status).toBe(200)
    const { as } = await signInByLink(world, 'first@example.com')
    expect((await world.call(secondFactor.get, { as })).body).toMatchObject({ totp: false, recoveryCodesLeft: 0 })
    const ofFirst = { reason: 'lost', dropped: { 'signing-key': 1, 'totp-secret': 1, 'export-key': 1 } }
    expect(await dropsOf(firstOrg, as)).toEqual([{ actorType: 'system', resourceId: firstOrg, metadata: ofFirst }])
    const { 'totp-secret': _, ...ofTenant } = everything
    expect(await dropsOf(tenant.orgId, tenant.admin.as)).toMatchObject([
      { metadata: { reason: 'lost', dropped: ofTenant } },
    ])
  }, 120_000)

  test('is not dropped while a key opens it', async () => {
    expect(outcome(await sealed({ now: firstKey }, 'drop', '--lost', '--yes'))).toContain('Nothing is lost.')
    expect(outcome(await sealed({ previous: firstKey }, 'drop', '--lost', '--yes'))).toContain('Nothing is lost.')
    const { current, none } = JSON.parse((await sealed({ now: firstKey }, 'list', '--json')).stdout)
    expect([current, none]).toEqual([everything, {}])
  }, 120_000)

  test('is dropped only with one reason', async () => {
    expect(outcome(await sealed({}, 'drop'))).toContain('1 skerry-server: Give --lost or --leaked.')
    expect(outcome(await sealed({}, 'drop', '--lost', '--leaked'))).toContain('Give --lost or --leaked.')
  }, 120_000)
})

describe('data under a leaked server key', () => {
  test('is dropped instead of encrypted again, and every key pair is a new one', async () => {
    const { as } = tenant.admin
    const params = { orgId: tenant.orgId }
    const keys = async () => ({
      broker: (await sent(world, leases.brokerKey, { as, params })).publicKeyJwk,
      rotator: (await sent(world, rotation.rotatorKey, { as, params })).publicKeyJwk,
      sync: (await keyOf(world, tenant, connectionId)).publicKeyJwk,
    })
    const before = await keys()
    expect((await sent(world, rotation.rotatorKey, { as, params })).grantedEnvironmentIds).toHaveLength(1)
    expect(outcome(await sealed({}, 'drop', '--leaked'))).toContain('the leaked key as SKERRY_SERVER_KEY_PREVIOUS')
    expect(outcome(await sealed({ now: firstKey, previous: other }, 'drop', '--leaked', '--yes'))).toContain(
      'If you ran `rekey` after the leak',
    )
    expect((await sealed({ previous: firstKey }, 'list')).stdout).toContain('Only SKERRY_SERVER_KEY_PREVIOUS opens:\n')
    expect(outcome(await sealed({ previous: firstKey }, 'drop', '--leaked'))).toContain('Nothing was changed.')
    const done = await sealed({ previous: firstKey }, 'drop', '--leaked', '--yes')
    expect(outcome(done)).toContain('0 Dropped:\n  1 key that signs sessions\n')
    await restart(nextKey)

    const after = await keys()
    for (const owner of ['broker', 'rotator', 'sync'] as const) expect(after[owner]).not.toBe(before[owner])
    expect((await sent(world, rotation.rotatorKey, { as, params })).grantedEnvironmentIds).toEqual([])
    const [connection] = (await sent(world, sync.connections, { as, params })).connections
    expect(connection).toMatchObject({ id: connectionId, publicKeyJwk: after.sync })
    const [binding] = (await sent(world, sync.bindings, { as, params })).bindings
    expect(binding).toMatchObject({ id: bindingId, missingEnvironmentIds: [env.id] })
    expect(await dropsOf(tenant.orgId, as)).toMatchObject([{ actorType: 'system', metadata: { reason: 'leaked' } }])
  }, 120_000)

  test('is given anew to its new key pairs with a credential and the keys of environments', async () => {
    await sealed({ previous: firstKey }, 'drop', '--leaked', '--yes')
    await restart(nextKey)
    const { as } = tenant.admin
    const params = { orgId: tenant.orgId }
    const connection = await keyOf(world, tenant, connectionId)
    await sent(world, sync.updateConnection, {
      as,
      params: { ...params, connectionId },
      body: { wrappedCredential: await wrapped('fo1_new', connection) },
    })
    const body = { wrappedDeks: await deksFor([env], connection), acknowledgedDecryption: true }
    const { binding } = await sent(world, sync.updateBinding, { as, params: { ...params, bindingId }, body })
    expect(binding.missingEnvironmentIds).toEqual([])
    const { rotations } = await sent(world, rotation.list, { as, params })
    expect(rotations).toHaveLength(1)
    const keyed = await keyedEnv(world, tenant, env.id, env.dek as never)
    await newRotation(world, tenant, await generatedRotation(world, tenant, keyed))
    expect((await sent(world, rotation.rotatorKey, { as, params })).grantedEnvironmentIds).toEqual([env.id])
  }, 120_000)
})
