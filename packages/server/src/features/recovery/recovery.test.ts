import { apps } from '@skerry/contract/apps/endpoints'
import { audit } from '@skerry/contract/audit/endpoints'
import { branches } from '@skerry/contract/branches/endpoints'
import { envs } from '@skerry/contract/envs/endpoints'
import { grants } from '@skerry/contract/grants/endpoints'
import { me } from '@skerry/contract/me/endpoints'
import { members } from '@skerry/contract/members/endpoints'
import { recovery } from '@skerry/contract/recovery/endpoints'
import { rekey } from '@skerry/contract/rekey/endpoints'
import { describe, expect, test } from 'vitest'
import { publicKeyJwk, sealedPrivateKey, wrappedKey } from '../../../test/blobs.ts'
import { recoveryBody } from '../../../test/recovery-steps.ts'
import { openTenant } from '../../../test/scene.ts'
import { stateOf } from '../../../test/state.ts'
import { type Actor, grantKey, newApp, newEnv, newMember, newToken, signUp, type Tenant } from '../../../test/tenant.ts'

const { world } = await openTenant()

async function scene() {
  const tenant = await signUp(world)
  const appId = (await newApp(world, tenant)).id
  const envId = (await newEnv(world, tenant, appId)).id
  const custodians: Actor[] = []
  for (let n = 0; n < 3; n++) custodians.push(await newMember(world, tenant))
  const params = { orgId: tenant.orgId }
  const as = tenant.admin.as
  const enable = (body: object) => world.call(recovery.enable, { as, params, body: body as never })
  const get = async () => (await world.call(recovery.get, { as, params })).body
  return { tenant, appId, envId, custodians, params, as, enable, get }
}

describe('setting recovery up', () => {
  test('stores the key, the custodians and the coverage; a custodian gets only their own share', async () => {
    const { envId, custodians, params, enable, get, tenant } = await scene()
    const other = (await newEnv(world, tenant, (await newApp(world, tenant)).id)).id
    expect(await get()).toMatchObject({ recovery: null, coverage: { protected: 0, total: 2, custodiansGone: 0 } })
    const body = recoveryBody(custodians, 2, [envId])
    expect((await enable(body)).status).toBe(201)
    expect(await get()).toMatchObject({
      recovery: {
        recoveryPublicKeyJwk: body.recoveryPublicKeyJwk,
        threshold: 2,
        custodians: custodians.map(({ id }, index) => ({ userId: id, shareIndex: index + 1 })),
        rotatedAt: null,
        lastDrillAt: null,
      },
      coverage: { protected: 1, total: 2, protectedEnvIds: [envId], unprotectedEnvIds: [other] },
    })
    const own = await world.call(recovery.share, { as: (custodians[1] as Actor).as, params })
    expect(own.body.share).toMatchObject({ shareIndex: 2, wrappedShare: body.shares[1]?.wrappedShare, threshold: 2 })
    expect((await enable(recoveryBody(custodians, 2))).status).toBe(409)
  })

  test('refuses invalid input, names the field, and changes nothing', async () => {
    const { tenant, envId, custodians, enable } = await scene()
    const keyless = await newMember(world, tenant, 'member', { keys: false })
    const stranger = await newMember(world, await signUp(world))
    const elsewhere = await scene()
    const good = recoveryBody(custodians, 2, [envId])
    const [first] = good.shares
    const before = await stateOf(world)
    for (const [more, says] of [
      [{ threshold: 4 }, 'body.threshold: 4 is more than the 3 custodians'],
      [{ threshold: 1 }, 'body.threshold'],
      [{ recoveryPublicKeyJwk: '{}' }, 'body.recoveryPublicKeyJwk: is not an EC P-256 key'],
      [{ shares: [...good.shares, { ...first, shareIndex: 9 }] }, `body.shares.3: ${first?.userId} is named twice`],
      [{ shares: [first, { ...good.shares[1], shareIndex: 1 }] }, 'body.shares.1: share 1 is named twice'],
      [recoveryBody([...custodians, keyless], 2), `body.shares.3: ${keyless.id} is not a member who has uploaded keys`],
      [recoveryBody([...custodians, stranger], 2), `body.shares.3: ${stranger.id} is not a member`],
      [{ grants: [...good.grants, ...good.grants] }, `body.grants.1: ${envId} is named twice`],
      [recoveryBody(custodians, 2, [elsewhere.envId]), 'body.grants.0: no such env'],
    ] as const) {
      const { status, error } = await enable({ ...good, ...more })
      expect([status, error?.message]).toEqual([400, expect.stringContaining(says)])
    }
    expect(await stateOf(world)).toEqual(before)
  })

  test('is refused to a token that is bound to an environment; every member may read the public key', async () => {
    const { tenant, envId, custodians, params, enable } = await scene()
    const bound = await newToken(world, tenant, { role: 'admin', environmentId: envId })
    expect((await world.call(recovery.get, { as: bound.as, params })).status).toBe(403)
    const key = async () =>
      (await world.call(recovery.publicKey, { as: (custodians[0] as Actor).as, params })).body.recoveryPublicKeyJwk
    expect(await key()).toBeNull()
    const body = recoveryBody(custodians, 2)
    await enable(body)
    expect(await key()).toBe(body.recoveryPublicKeyJwk)
  })
})

describe('coverage', () => {
  async function covered() {
    const made = await scene()
    await made.enable(recoveryBody(made.custodians, 2, [made.envId]))
    return made
  }
  const create = async (tenant: Tenant, appId: string, slug: string, more: object) =>
    (
      await world.call(apps.createEnv, {
        as: tenant.admin.as,
        params: { orgId: tenant.orgId, appId },
        body: { name: slug, slug, wrappedDek: wrappedKey(), ...more },
      })
    ).body.environment.id

  test('includes a new environment or branch that comes with its wrapped key, and drops deleted ones', async () => {
    const { tenant, appId, envId, params, as, get } = await covered()
    const inside = await create(tenant, appId, 'inside', { recoveryWrappedDek: wrappedKey() })
    const outside = await create(tenant, appId, 'outside', {})
    const fork = { slug: 'pr-1', wrappedDek: wrappedKey(), recoveryWrappedDek: wrappedKey() }
    const branch = await world.call(branches.create, { as, params: { ...params, envId }, body: fork })
    expect((await get()).coverage).toMatchObject({
      protectedEnvIds: [envId, inside, branch.body.branch.id],
      unprotectedEnvIds: [outside],
    })
    const grants = [{ environmentId: outside, wrappedDek: wrappedKey() }]
    const answer = await world.call(recovery.cover, { as, params, body: { grants } })
    expect(answer.body.coverage).toMatchObject({ protected: 4, total: 4 })
    await world.call(envs.delete, { as, params: { ...params, envId: outside } })
    const { body } = await world.call(recovery.envKeys, { as, params })
    expect(body.grants.map(({ environmentId }) => environmentId)).not.toContain(outside)
  })

  test('follows a re-key that brings the new key, and reports one that does not', async () => {
    const { tenant, envId, params, as, get } = await covered()
    const run = (more: object) =>
      world.call(rekey.run, {
        as,
        params: { ...params, envId },
        body: {
          expectedVersions: {},
          secrets: [],
          grants: [{ principalType: 'service_token', principalId: tenant.admin.id, wrappedDek: wrappedKey() }],
          ...more,
        },
      })
    const recoveryWrappedDek = wrappedKey()
    expect((await run({ recoveryWrappedDek })).status).toBe(200)
    const { body } = await world.call(recovery.envKeys, { as, params })
    expect(body.grants).toEqual([{ environmentId: envId, wrappedDek: recoveryWrappedDek }])
    await run({})
    expect((await get()).coverage).toMatchObject({ protected: 0, unprotectedEnvIds: [envId] })
  })

  test('reports a custodian who left, and one who replaced the keys that the share was wrapped to', async () => {
    const { custodians, params, as, get, tenant, envId } = await covered()
    const [leaver, forgetter] = custodians as [Actor, Actor]
    await world.call(members.remove, { as, params: { ...params, userId: leaver.id } })
    expect(await get()).toMatchObject({ coverage: { custodiansGone: 1 } })
    await grantKey(world, tenant, envId, forgetter)
    const body = { publicKeyJwk: publicKeyJwk(), encryptedPrivateKey: sealedPrivateKey() }
    expect((await world.call(me.replaceKeys, { as: forgetter.as, body })).status).toBe(200)
    expect(await get()).toMatchObject({ coverage: { custodiansGone: 2 }, recovery: { threshold: 2 } })
    expect((await world.call(recovery.share, { as: forgetter.as, params })).status).toBe(403)
    const trail = await world.call(audit.list, { as, params, query: { action: 'recovery.custodian_removed' } })
    expect(trail.body.entries.map(({ metadata }) => metadata)).toEqual([
      { userId: forgetter.id, shareIndex: 2, cause: 'user.keys_replaced' },
      { userId: leaver.id, shareIndex: 1, cause: 'member.removed' },
    ])
    const held = await world.call(grants.list, { as, params: { ...params, envId } })
    expect(held.body.grants.map(({ principalId }) => principalId)).not.toContain(forgetter.id)
  })
})

test('a rotation replaces key, shares and coverage at once, and is refused without recovery', async () => {
  const { custodians, params, as, enable, get, envId } = await scene()
  const rotate = (body: object) => world.call(recovery.rotate, { as, params, body: body as never })
  const next = recoveryBody(custodians.slice(0, 2), 2)
  expect((await rotate(next)).status).toBe(404)
  await enable(recoveryBody(custodians, 3, [envId]))
  expect((await rotate({ ...next, threshold: 3 })).status).toBe(400)
  expect(await get()).toMatchObject({ recovery: { threshold: 3 } })
  expect((await rotate(next)).status).toBe(200)
  expect(await get()).toMatchObject({
    recovery: { recoveryPublicKeyJwk: next.recoveryPublicKeyJwk, threshold: 2 },
    coverage: { protected: 0, custodiansGone: 0 },
  })
  const gone = await world.call(recovery.share, { as: (custodians[2] as Actor).as, params })
  expect(gone.status).toBe(403)
  expect((await world.call(recovery.disable, { as, params })).status).toBe(200)
  expect(await get()).toMatchObject({ recovery: null })
})
