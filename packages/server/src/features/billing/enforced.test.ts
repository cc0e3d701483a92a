import { apps } from '@skerry/contract/apps/endpoints'
import { audit } from '@skerry/contract/audit/endpoints'
import { billing } from '@skerry/contract/billing/endpoints'
import type { Metric } from '@skerry/contract/billing/plans'
import { honeyTokens } from '@skerry/contract/honey-tokens/endpoints'
import { me } from '@skerry/contract/me/endpoints'
import { invites } from '@skerry/contract/members/endpoints'
import { resolve } from '@skerry/contract/resolve/endpoints'
import { secrets } from '@skerry/contract/secrets/endpoints'
import { vaultExecutor } from '@skerry/contract/vault/executor'
import { vaultPlatform } from '@skerry/contract/vault/platform'
import { beforeEach, describe, expect, test } from 'vitest'
import { ciphertext } from '../../../test/blobs.ts'
import { outbox, readMail } from '../../../test/people.ts'
import { openTenant } from '../../../test/scene.ts'
import { newApp, newDecoy, newEnv, newMember, putSecret, signUp, type Tenant } from '../../../test/tenant.ts'
import { until } from '../../../test/until.ts'
import { newConnection, newVault } from '../../../test/vault-scene.ts'
import { recordTrips } from '../honey-tokens/trips.ts'
import { saveHolding, saveOverride } from './store.ts'

const { world } = await openTenant({ SKERRY_PLANS: 'enforced' })
const { db } = world.server.context

let tenant: Tenant
beforeEach(async () => {
  tenant = await signUp(world)
})

const now = () => world.clock.now().toISOString()
const limit = (key: Metric | 'feature.honey_tokens', value: number | boolean | null) =>
  saveOverride(db as never, { id: tenant.orgId }, { key, value, reason: 'a test' }, now())
const ask = <E extends Parameters<typeof world.call>[0]>(endpoint: E, body?: object) =>
  world.call(endpoint, { as: tenant.admin.as, params: { orgId: tenant.orgId }, ...(body ? { body } : {}) } as never)
const addApp = (slug: string) => ask(apps.create, { name: 'An app', slug })

describe('with enforced plans', () => {
  test('a call above the quota is refused with the metric, the quota and the use, and adds nothing', async () => {
    await limit('apps', 1)
    expect((await addApp('one')).status).toBe(201)
    const { status, error } = await addApp('two')
    expect([status, error?.code]).toEqual([403, 'quota_exceeded'])
    expect(error?.message).toBe('apps: the plan includes 1, and 1 are used')
    expect((await ask(apps.list)).body.apps).toHaveLength(1)
    await limit('apps', null)
    expect((await addApp('two')).status).toBe(201)
  })

  test('only one of four calls at once gets the last app', async () => {
    await limit('apps', 1)
    const answers = await Promise.all(['a', 'b', 'c', 'd'].map(addApp))
    expect(answers.map(({ status }) => status).sort()).toEqual([201, 403, 403, 403])
  })

  test('an invited person uses a seat', async () => {
    await limit('members', 2)
    const invite = (email: string) => ask(invites.create, { email })
    expect((await invite('one@example.com')).status).toBe(201)
    expect((await invite('two@example.com')).status).toBe(201)
    expect((await invite('three@example.com')).error?.message).toBe('members: the plan includes 2, and 2 are used')
  })

  test('secrets are counted over all environments, and a new version of a secret is not counted', async () => {
    await limit('secrets', 2)
    const appId = (await newApp(world, tenant)).id
    const [one, other] = [await newEnv(world, tenant, appId, 'one'), await newEnv(world, tenant, appId, 'other')]
    const put = (envId: string, name: string) =>
      world.call(secrets.put, {
        as: tenant.admin.as,
        params: { orgId: tenant.orgId, envId, name },
        body: { ciphertext: ciphertext() },
      })
    const statuses = []
    for (const [envId, name] of [
      [one.id, 'A'],
      [other.id, 'B'],
      [one.id, 'C'],
      [one.id, 'A'],
    ] as const)
      statuses.push((await put(envId, name)).status)
    expect(statuses).toEqual([201, 201, 403, 200])
  })

  test('decoys can be listed and made only with a plan that includes them', async () => {
    expect((await ask(honeyTokens.list)).error?.message).toBe('feature.honey_tokens: the plan Free does not include it')
    expect((await ask(honeyTokens.create, {})).status).toBe(403)
    await limit('feature.honey_tokens', true)
    expect((await ask(honeyTokens.list)).status).toBe(200)
    expect((await ask(billing.get)).body.entitlements).toContainEqual({
      key: 'feature.honey_tokens',
      plan: 'free',
      granted: true,
    })
  })

  test('an existing decoy still alerts the admins when it is used, even after the plan stops including decoys', async () => {
    await newMember(world, tenant, 'admin', { email: 'alerted@example.com' })
    const save = (endsAt: string | null) =>
      saveHolding(
        db as never,
        { id: tenant.orgId },
        { family: 'platform', source: 'operator', plan: 'team', endsAt },
        now(),
      )
    await save(null)
    const decoy = await newDecoy(world, tenant)
    await save(now())
    expect((await ask(honeyTokens.list)).status).toBe(403)
    expect((await world.call(me.get, { as: decoy.as })).status).toBe(401)
    await recordTrips(world.server.context)
    const query = { action: 'honey_token.tripped', resourceId: decoy.id }
    const params = { orgId: tenant.orgId }
    const { entries } = (await world.call(audit.list, { as: tenant.admin.as, params, query })).body
    expect(entries).toMatchObject([{ metadata: { placement: 'a wiki', count: 1 } }])
    await until('the mail about the decoy', async () => {
      const mails = await Promise.all((await outbox(world)).map((name) => readMail(world, name)))
      return mails.some(
        (mail) =>
          mail.includes('To: alerted@example.com\n') && mail.includes('Subject: Somebody used a decoy token of Acme'),
      )
    })
  })

  test('a higher plan grants its features', async () => {
    const entitled = async () =>
      (await ask(billing.get)).body.entitlements.filter(({ granted }) => granted).map(({ key }) => key)
    expect(await entitled()).not.toContain('feature.honey_tokens')
    await saveHolding(
      db as never,
      { id: tenant.orgId },
      { family: 'platform', source: 'operator', plan: 'team' },
      now(),
    )
    expect(await entitled()).toContain('feature.honey_tokens')
    expect((await ask(honeyTokens.list)).status).toBe(200)
  })

  test('resolves are refused once the monthly quota is used, as soon as the counts are stored', async () => {
    await limit('resolves', 2)
    const env = (await newEnv(world, tenant, (await newApp(world, tenant)).id)).id
    await putSecret(world, tenant, env, 'A')
    const read = () => world.call(resolve.get, { as: tenant.admin.as, query: { env } })
    for (let n = 0; n < 2; n++) expect((await read()).status).toBe(200)
    await world.server.context.meter.flush()
    const { status, error } = await read()
    expect([status, error?.message]).toEqual([403, 'resolves: the plan includes 2, and 2 are used'])
    await limit('resolves', 100)
    await world.server.context.meter.flush()
    expect((await read()).status).toBe(200)
  })

  test('a connect link uses quota until it expires or the connection made with it is revoked', async () => {
    await limit('vault.connections.max', 1)
    const vault = await newVault(world, tenant)
    const link = (body: object) =>
      world.call(vaultPlatform.createSession, {
        as: vault.platform.as,
        body: { userRef: 'user-1', providerId: 'acme', ...body },
      })
    const refusal = 'vault.connections.max: the plan includes 1, and 1 are used'
    const answers = await Promise.all(['a', 'b', 'c', 'd'].map((userRef) => link({ userRef, expiresInSeconds: 60 })))
    expect(answers.map(({ status }) => status).sort()).toEqual([201, 403, 403, 403])
    const refused = answers.filter(({ status }) => status === 403).map(({ error }) => [error?.code, error?.message])
    expect(refused).toEqual(Array(3).fill(['quota_exceeded', refusal]))
    world.clock.advance(61)
    // The unused link has expired, so its quota is free. A used link counts once, and a reconnect not at all.
    const connectionId = await newConnection(world, vault)
    expect((await ask(billing.get)).body.usage).toContainEqual(
      expect.objectContaining({ key: 'vault.connections.max', quantity: 1 }),
    )
    expect((await link({})).error?.message).toBe(refusal)
    expect((await link({ purpose: 'reconnect', connectionId })).status).toBe(201)
    await world.call(vaultPlatform.revoke, { as: vault.platform.as, params: { vaultConnectionId: connectionId } })
    expect((await link({})).status).toBe(201)
  })

  test('releases of the vault are refused once the monthly quota is used, and the audit log shows it', async () => {
    await limit('vault.releases', 1)
    const vault = await newVault(world, tenant)
    const params = { vaultConnectionId: await newConnection(world, vault), slot: 'api_key' as const }
    const release = () => world.call(vaultExecutor.release, { as: vault.executor.as, params })
    expect((await release()).status).toBe(200)
    await world.server.context.meter.flush()
    const { status, error } = await release()
    expect([status, error?.code, error?.message]).toEqual([
      403,
      'quota_exceeded',
      'vault.releases: the plan includes 1, and 1 are used',
    ])
    expect((await ask(audit.list)).body.entries[0]).toMatchObject({
      action: 'vault.credential.release_denied',
      metadata: { reason: error?.message },
    })
  })
})
