import { apps } from '@skerry/contract/apps/endpoints'
import { audit } from '@skerry/contract/audit/endpoints'
import { branches } from '@skerry/contract/branches/endpoints'
import { envs } from '@skerry/contract/envs/endpoints'
import { grants } from '@skerry/contract/grants/endpoints'
import { limits } from '@skerry/contract/limits'
import { describe, expect, test } from 'vitest'
import { wrappedKey } from '../../../test/blobs.ts'
import { openEnv } from '../../../test/scene.ts'
import {
  type Actor,
  grantKey,
  newApp,
  newEnv,
  newGroup,
  newGroupEnv,
  newMember,
  newToken,
  signUp,
} from '../../../test/tenant.ts'

const { world, tenant, appId, envId } = await openEnv()
const holder = await newToken(world, tenant)
await grantKey(world, tenant, envId, holder)

let count = 0
const on = (id: string) => ({ orgId: tenant.orgId, envId: id })
const fork = (body: object = {}, actor: Actor = holder, parent = envId) =>
  world.call(branches.create, {
    as: actor.as,
    params: on(parent),
    body: { slug: `branch-${++count}`, wrappedDek: wrappedKey(), ...body },
  })
const holdersOf = async (id: string) =>
  (await world.call(grants.list, { as: tenant.admin.as, params: on(id) })).body.grants.map((grant) => grant.principalId)
const grantFor = (actor: Actor) => ({
  principalType: actor.id.startsWith('usr_') ? 'user' : 'service_token',
  principalId: actor.id,
  wrappedDek: wrappedKey(),
})
const lifetime = ({ createdAt, expiresAt }: { createdAt: string; expiresAt: string | null }) =>
  expiresAt && (Date.parse(expiresAt) - Date.parse(createdAt)) / 1000

describe('a branch', () => {
  test('is an environment of the same application, under its parent', async () => {
    const { status, body } = await fork({ slug: 'feature', name: 'A feature' })
    expect(status).toBe(201)
    expect(body.branch).toMatchObject({
      applicationId: appId,
      groupId: null,
      parentEnvironmentId: envId,
      slug: 'feature',
      name: 'A feature',
    })
    expect((await world.call(envs.get, { as: holder.as, params: on(body.branch.id) })).body.environment).toEqual(
      body.branch,
    )
  })

  test('has its slug as its name unless it gets another', async () => {
    expect((await fork({ slug: 'nameless' })).body.branch.name).toBe('nameless')
  })

  test('lasts seven days by default, and for ever if its lifetime is null', async () => {
    expect(lifetime((await fork()).body.branch)).toBe(7 * 86_400)
    for (const ttlSeconds of [1, 60]) expect(lifetime((await fork({ ttlSeconds })).body.branch)).toBe(ttlSeconds)
    expect(lifetime((await fork({ ttlSeconds: limits.branchTtlMaxSeconds })).body.branch)).toBe(30 * 86_400)
    expect((await fork({ ttlSeconds: null })).body.branch.expiresAt).toBeNull()
  })

  test.each([30 * 86_400 + 1, 0, -1, 0.5, 90.5, '3600'])('with a lifetime of %j is refused', async (ttlSeconds) => {
    const { status, error } = await fork({ ttlSeconds })
    expect(status).toBe(400)
    expect(error?.message).toContain('body.ttlSeconds')
  })

  test('is in the branch lists of its environment and application, and not among the environments', async () => {
    const own = await newApp(world, tenant)
    const parent = await newEnv(world, tenant, own.id)
    const other = await newEnv(world, tenant, own.id, 'staging')
    const { branch } = (await fork({}, tenant.admin, parent.id)).body
    const second = (await fork({}, tenant.admin, other.id)).body.branch
    const params = { orgId: tenant.orgId, appId: own.id }
    const list = await world.call(branches.list, { as: tenant.admin.as, params: on(parent.id) })
    const listed = [branch, second].map((one) => ({ ...one, manifest: null }))
    expect(list.body.branches).toEqual(listed.slice(0, 1))
    expect((await world.call(apps.branches, { as: tenant.admin.as, params })).body.branches).toEqual(listed)
    const ids = [parent.id, other.id]
    const environments = (await world.call(apps.envs, { as: tenant.admin.as, params })).body.environments
    expect(environments.map(({ id }) => id)).toEqual(ids)
    const detail = (await world.call(apps.get, { as: tenant.admin.as, params })).body.environments
    expect(detail.map(({ id }) => id)).toEqual(ids)
  })

  test('needs a slug that is unique under its parent, but another environment may have the same', async () => {
    await fork({ slug: 'taken' })
    const { status, error } = await fork({ slug: 'taken' })
    expect([status, error?.code]).toEqual([409, 'conflict'])
    const other = await newEnv(world, tenant, appId, 'other-parent')
    expect((await fork({ slug: 'taken' }, tenant.admin, other.id)).status).toBe(201)
    expect((await fork({ slug: 'production' })).status).toBe(201)
  })
})

describe('forking', () => {
  test('needs a grant on the parent, but not the admin role', async () => {
    const ungranted = await newMember(world, tenant, 'admin')
    for (const actor of [ungranted, await newToken(world, tenant), tenant.machine])
      expect((await fork({}, actor)).status).toBe(403)
    await grantKey(world, tenant, envId, ungranted)
    expect((await fork({}, ungranted)).status).toBe(201)
    expect((await fork({}, holder)).status).toBe(201)
  })

  test('records in the audit log to whom the key went, the caller first', async () => {
    const [person, token] = [await newMember(world, tenant), await newToken(world, tenant)]
    for (const actor of [person, token]) await grantKey(world, tenant, envId, actor)
    const { body } = await fork({ grants: [grantFor(person), grantFor(token)] })
    const query = { action: 'branch.created', resourceId: body.branch.id }
    const params = { orgId: tenant.orgId }
    const { entries } = (await world.call(audit.list, { as: tenant.admin.as, params, query })).body
    expect(entries.map(({ metadata }) => metadata)).toEqual([
      expect.objectContaining({
        grants: 2,
        grantedTo: [
          { principalType: 'service_token', principalId: holder.id },
          { principalType: 'user', principalId: person.id },
          { principalType: 'service_token', principalId: token.id },
        ],
      }),
    ])
  })

  test('a branch, or an environment of a group, is refused', async () => {
    const { branch } = (await fork()).body
    const ofGroup = await newGroupEnv(world, tenant, (await newGroup(world, tenant)).id)
    await grantKey(world, tenant, ofGroup.id, holder)
    for (const parent of [branch.id, ofGroup.id]) {
      const { status, error } = await fork({}, holder, parent)
      expect([status, error?.code]).toEqual([400, 'invalid_request'])
    }
  })

  test('grants the key to the caller and to the holders on the parent that the body names', async () => {
    const person = await newMember(world, tenant)
    await grantKey(world, tenant, envId, person)
    expect(await holdersOf((await fork()).body.branch.id)).toEqual([holder.id])
    const { body } = await fork({ grants: [grantFor(person), grantFor(tenant.admin)] })
    expect((await holdersOf(body.branch.id)).sort()).toEqual([holder.id, person.id, tenant.admin.id].sort())
    const own = await world.call(grants.own, { as: person.as, params: on(body.branch.id) })
    expect(own.status).toBe(200)
  })

  test('for someone without a grant on the parent is refused as a whole', async () => {
    const stranger = await signUp(world)
    for (const actor of [await newToken(world, tenant), await newMember(world, tenant), stranger.admin]) {
      const { status, error } = await fork({ slug: 'widened', grants: [grantFor(tenant.admin), grantFor(actor)] })
      expect([status, error?.code]).toEqual([400, 'invalid_request'])
      expect(error?.message).toMatch(/^body\.grants\.1: /)
    }
    const { body } = await world.call(branches.list, { as: holder.as, params: on(envId) })
    expect(body.branches.map(({ slug }) => slug)).not.toContain('widened')
  })

  test('with two grants for one principal is refused', async () => {
    for (const actor of [tenant.admin, holder]) {
      const { status, error } = await fork({ grants: [grantFor(actor), grantFor(actor)] })
      expect([status, error?.message]).toEqual([400, `body.grants.1: ${actor.id} is named twice`])
    }
  })

  test('for all holders, including the caller, gives the caller the key in wrappedDek', async () => {
    const own = wrappedKey()
    const { status, body } = await fork({ wrappedDek: own, grants: [grantFor(holder), grantFor(tenant.admin)] })
    expect(status).toBe(201)
    expect((await holdersOf(body.branch.id)).sort()).toEqual([holder.id, tenant.admin.id].sort())
    const held = await world.call(grants.own, { as: holder.as, params: on(body.branch.id) })
    expect(held.body.wrappedDek).toBe(own)
  })

  test('for a token under the type of a user is refused', async () => {
    const grant = { ...grantFor(tenant.admin), principalType: 'user' }
    expect((await fork({ grants: [grant] })).status).toBe(400)
  })

  test('an environment of another organization is answered with 404', async () => {
    const stranger = await signUp(world)
    const answer = await world.call(branches.create, {
      as: stranger.admin.as,
      params: { orgId: stranger.orgId, envId },
      body: { slug: 'theirs', wrappedDek: wrappedKey() },
    })
    expect(answer.status).toBe(404)
  })
})

describe('deleting a branch', () => {
  const remove = (id: string, actor: Actor) => world.call(envs.delete, { as: actor.as, params: on(id) })

  test('is for holders of its key, and for admins with or without the key', async () => {
    const forker = await newToken(world, tenant)
    await grantKey(world, tenant, envId, forker)
    expect((await remove((await fork({}, forker)).body.branch.id, forker)).body).toEqual({ ok: true })
    expect((await remove((await fork({}, forker)).body.branch.id, tenant.machine)).status).toBe(200)
  })

  test('is refused to a holder of the parent’s key alone, and so is deleting the parent', async () => {
    const { branch } = (await fork({}, tenant.admin)).body
    expect((await remove(branch.id, holder)).status).toBe(403)
    expect((await remove(envId, holder)).status).toBe(403)
    expect((await world.call(envs.get, { as: holder.as, params: on(branch.id) })).status).toBe(200)
  })
})
