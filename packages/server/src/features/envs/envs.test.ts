import { apps } from '@skerry/contract/apps/endpoints'
import { branches } from '@skerry/contract/branches/endpoints'
import { envs } from '@skerry/contract/envs/endpoints'
import { grants } from '@skerry/contract/grants/endpoints'
import { groups } from '@skerry/contract/groups/endpoints'
import { me } from '@skerry/contract/me/endpoints'
import { tokens } from '@skerry/contract/tokens/endpoints'
import { describe, expect, test } from 'vitest'
import { wrappedKey } from '../../../test/blobs.ts'
import { openTenant } from '../../../test/scene.ts'
import {
  type Actor,
  grantKey,
  newApp,
  newEnv,
  newGroup,
  newGroupEnv,
  newMember,
  newToken,
  putSecret,
  signUp,
} from '../../../test/tenant.ts'

const { world, tenant } = await openTenant()
const appId = (await newApp(world, tenant)).id
const groupId = (await newGroup(world, tenant)).id

const org = () => ({ orgId: tenant.orgId })
const inApp = (slug: string, actor: Actor = tenant.admin, more: object = {}) =>
  world.call(apps.createEnv, {
    as: actor.as,
    params: { ...org(), appId },
    body: { name: slug, slug, wrappedDek: wrappedKey(), ...more },
  })
const inGroup = (slug: string, actor: Actor = tenant.admin) =>
  world.call(groups.createEnv, {
    as: actor.as,
    params: { ...org(), groupId },
    body: { name: slug, slug, wrappedDek: wrappedKey() },
  })
const on = (envId: string) => ({ ...org(), envId })
const remove = (envId: string, actor: Actor = tenant.admin) =>
  world.call(envs.delete, { as: actor.as, params: on(envId) })

describe('creating an environment', () => {
  test.each([['an application', inApp] as const, ['a group', inGroup] as const])(
    'of %s grants its key only to the creator',
    async (_, create) => {
      const person = await newMember(world, tenant, 'admin')
      const { status, body } = await create('creators', person)
      expect(status).toBe(201)
      const params = on(body.environment.id)
      const list = await world.call(grants.list, { as: tenant.admin.as, params })
      expect(list.body.grants.map((grant) => [grant.principalType, grant.principalId])).toEqual([['user', person.id]])
      const own = await world.call(grants.own, { as: person.as, params })
      expect(own.body.wrappedDek).toBe(list.body.grants[0]?.wrappedDek)
      expect((await world.call(grants.own, { as: tenant.admin.as, params })).status).toBe(403)
    },
  )

  test('sets exactly one owner, and neither a parent nor an expiry', async () => {
    const ofApp = (await inApp('owned')).body.environment
    const ofGroup = (await inGroup('owned')).body.environment
    expect(ofApp).toMatchObject({ applicationId: appId, groupId: null, parentEnvironmentId: null, expiresAt: null })
    expect(ofGroup).toMatchObject({ applicationId: null, groupId, parentEnvironmentId: null, expiresAt: null })
  })

  test('is refused to a machine client, which can hold no key', async () => {
    for (const { status, error } of [await inApp('machine', tenant.machine), await inGroup('machine', tenant.machine)])
      expect([status, error?.code]).toEqual([403, 'forbidden'])
  })

  test('is refused to a member and a member token', async () => {
    for (const actor of [await newMember(world, tenant), await newToken(world, tenant)])
      expect([(await inApp('member', actor)).status, (await inGroup('member', actor)).status]).toEqual([403, 403])
  })

  test('with the slug of another one is a conflict, but only in the same application or group', async () => {
    await inApp('taken')
    const { status, error } = await inApp('taken')
    expect([status, error?.code, error?.message]).toEqual([409, 'conflict', 'body.slug: another environment uses it'])
    expect((await inGroup('taken')).status).toBe(201)
    expect((await inGroup('taken')).status).toBe(409)
    await expect(newEnv(world, tenant, (await newApp(world, tenant)).id, 'taken')).resolves.toMatchObject({
      slug: 'taken',
    })
  })

  test('ten times at once under one slug succeeds once and leaves one grant', async () => {
    const answers = await Promise.all(Array.from({ length: 10 }, () => inApp('raced')))
    expect(answers.map((answer) => answer.status).sort()).toEqual([201, ...Array(9).fill(409)])
    const made = answers.find((answer) => answer.status === 201)?.body.environment.id as string
    const { body } = await world.call(grants.list, { as: tenant.admin.as, params: on(made) })
    expect(body.grants).toHaveLength(1)
  })

  test('without a wrapped key, or with a malformed one, is refused', async () => {
    for (const wrappedDek of [undefined, '', 'plaintext', wrappedKey().replace('wd1', 'wd2'), `${wrappedKey()}.AAAA`])
      expect((await inApp('keyless', tenant.admin, { wrappedDek })).status).toBe(400)
  })

  test('accepts a key wrapped for recovery, but not a malformed one', async () => {
    expect((await inApp('recoverable', tenant.admin, { recoveryWrappedDek: wrappedKey() })).status).toBe(201)
    expect((await inApp('misrecoverable', tenant.admin, { recoveryWrappedDek: 'plaintext' })).status).toBe(400)
  })
})

describe('an environment', () => {
  test('can be read by any member, with or without a grant, and never shows a key', async () => {
    const env = (await inApp('readable')).body.environment
    for (const actor of [tenant.machine, await newMember(world, tenant), await newToken(world, tenant)]) {
      const answer = await world.call(envs.get, { as: actor.as, params: on(env.id) })
      expect(answer.body).toEqual({ environment: env })
    }
    expect((await world.call(envs.get, { as: (await signUp(world)).admin.as, params: on(env.id) })).status).toBe(404)
  })

  test('is renamed only by admins, and keeps its slug', async () => {
    const env = (await inApp('fixed')).body.environment
    const rename = (actor: Actor, body: Record<string, unknown>) =>
      world.call(envs.update, { as: actor.as, params: on(env.id), body })
    world.clock.advance(2)
    const { body } = await rename(tenant.machine, { name: 'Renamed' })
    expect(body.environment).toEqual({ ...env, name: 'Renamed', updatedAt: body.environment.updatedAt })
    expect(body.environment.updatedAt > env.updatedAt).toBe(true)
    expect((await rename(tenant.admin, { name: 'x', slug: 'moved' })).status).toBe(400)
    expect((await rename(await newMember(world, tenant), { name: 'No' })).status).toBe(403)
  })

  test('is deleted only by admins, with or without a grant', async () => {
    const env = (await inApp('deleted')).body.environment
    const holder = await newToken(world, tenant)
    await grantKey(world, tenant, env.id, holder)
    expect((await remove(env.id, holder)).status).toBe(403)
    expect((await remove(env.id, tenant.machine)).body).toEqual({ ok: true })
    expect((await remove(env.id)).status).toBe(404)
  })

  test('is deleted with its branches and with the tokens bound to it or to them', async () => {
    const env = (await inApp('deep')).body.environment
    const forked = await world.call(branches.create, {
      as: tenant.admin.as,
      params: on(env.id),
      body: { slug: 'fork', wrappedDek: wrappedKey() },
    })
    const branchId = forked.body.branch.id
    await putSecret(world, tenant, branchId, 'A')
    const bound = [
      await newToken(world, tenant, { environmentId: env.id }),
      await newToken(world, tenant, { environmentId: branchId }),
    ]
    await remove(env.id)
    expect((await world.call(envs.get, { as: tenant.admin.as, params: on(branchId) })).status).toBe(404)
    for (const token of bound) expect((await world.call(me.get, { as: token.as })).status).toBe(401)
    const { body } = await world.call(tokens.list, { as: tenant.admin.as, params: org() })
    for (const token of bound) expect(body.tokens.map(({ id }) => id)).not.toContain(token.id)
  })
})

describe('the grantees of an environment', () => {
  const list = async (envId: string, actor: Actor) =>
    (await world.call(envs.grantees, { as: actor.as, params: on(envId) })).body.grantees

  test('are shown to any member with name and public key, and without key material', async () => {
    const envId = (await inGroup('granted')).body.environment.id
    const person = await newMember(world, tenant)
    const token = await newToken(world, tenant)
    for (const actor of [person, token]) await grantKey(world, tenant, envId, actor)
    const grantees = await list(envId, await newToken(world, tenant))
    expect(grantees.map(({ principalType, principalId }) => [principalType, principalId])).toEqual([
      ['service_token', tenant.admin.id],
      ['user', person.id],
      ['service_token', token.id],
    ])
    for (const { publicKeyJwk, name } of grantees) {
      expect(JSON.parse(publicKeyJwk)).toMatchObject({ kty: 'EC', crv: 'P-256' })
      expect(name).toEqual(expect.any(String))
    }
    expect(JSON.stringify(grantees)).not.toContain('wd1.')
  })

  test('do not include revoked or expired tokens, so that nobody wraps a key to them', async () => {
    const envId = (await inGroup('expiring')).body.environment.id
    const revoked = await newToken(world, tenant)
    const expiresAt = new Date(world.clock.now().getTime() + 60_000).toISOString()
    const expiring = await newToken(world, tenant, { expiresAt })
    for (const token of [revoked, expiring]) await grantKey(world, tenant, envId, token)
    expect(await list(envId, tenant.admin)).toHaveLength(3)
    await world.call(tokens.revoke, { as: tenant.admin.as, params: { ...org(), tokenId: revoked.id } })
    world.clock.advance(61)
    expect((await list(envId, tenant.admin)).map(({ principalId }) => principalId)).toEqual([tenant.admin.id])
  })
})

test('a group environment is deleted like any other', async () => {
  const env = await newGroupEnv(world, tenant, (await newGroup(world, tenant)).id)
  expect((await remove(env.id)).status).toBe(200)
  expect((await world.call(envs.get, { as: tenant.admin.as, params: on(env.id) })).status).toBe(404)
})
