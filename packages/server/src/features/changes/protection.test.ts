import { audit } from '@skerry/contract/audit/endpoints'
import { branches } from '@skerry/contract/branches/endpoints'
import { changes, protection } from '@skerry/contract/changes/endpoints'
import { envs } from '@skerry/contract/envs/endpoints'
import { secrets } from '@skerry/contract/secrets/endpoints'
import { describe, expect, test } from 'vitest'
import { ciphertext, wrappedKey } from '../../../test/blobs.ts'
import { newGuarded, proposePut, protect, queuedIn, unprotect } from '../../../test/guarded.ts'
import { openTenant } from '../../../test/scene.ts'
import { type Actor, grantKey, newMember, newToken, signUp } from '../../../test/tenant.ts'

const { world, tenant } = await openTenant()

const read = (envId: string, by: Actor = tenant.admin) =>
  world.call(protection.get, { as: by.as, params: { orgId: tenant.orgId, envId } })
const write = (envId: string, body: Record<string, unknown>, by: Actor = tenant.admin) =>
  world.call(protection.put, { as: by.as, params: { orgId: tenant.orgId, envId }, body })

async function fork(envId: string, by: Actor = tenant.admin, slug = 'own'): Promise<string> {
  const params = { orgId: tenant.orgId, envId }
  const answer = await world.call(branches.create, { as: by.as, params, body: { slug, wrappedDek: wrappedKey() } })
  return answer.body.branch.id
}

const put = (envId: string, by: Actor = tenant.admin) =>
  world.call(secrets.put, {
    as: by.as,
    params: { orgId: tenant.orgId, envId, name: 'A' },
    body: { ciphertext: ciphertext() },
  })

async function actionsOn(resourceId: string) {
  const query = { resourceId, resourceType: 'environment' }
  const { body } = await world.call(audit.list, { as: tenant.admin.as, params: { orgId: tenant.orgId }, query })
  return body.entries.map(({ action }) => action).filter((action) => action.startsWith('env.protection'))
}

describe('protection', () => {
  test('is off until an admin turns it on, and then needs one approval of someone else', async () => {
    const envId = await newGuarded(world, tenant, null)
    expect((await read(envId)).body).toEqual({ protection: null, openChangeRequests: 0 })
    const { status, body } = await write(envId, {})
    expect([status, body]).toEqual([200, { protection: { requiredApprovals: 1, allowSelfApproval: false } }])
    expect((await read(envId)).body.protection).toEqual(body.protection)
  })

  test('keeps the settings that an update leaves out', async () => {
    const envId = await newGuarded(world, tenant, { requiredApprovals: 3 })
    expect((await write(envId, { allowSelfApproval: true })).body.protection).toEqual({
      requiredApprovals: 3,
      allowSelfApproval: true,
    })
    expect((await write(envId, { requiredApprovals: 2 })).body.protection).toEqual({
      requiredApprovals: 2,
      allowSelfApproval: true,
    })
    expect((await write(envId, {})).body.protection).toEqual({ requiredApprovals: 2, allowSelfApproval: true })
  })

  test('begins with the defaults again after it was removed', async () => {
    const envId = await newGuarded(world, tenant, { requiredApprovals: 3, allowSelfApproval: true })
    expect((await unprotect(world, tenant, envId)).body).toEqual({ ok: true })
    expect((await read(envId)).body.protection).toBeNull()
    expect(await protect(world, tenant, envId)).toEqual({ requiredApprovals: 1, allowSelfApproval: false })
  })

  test('leaves an audit entry when it begins, changes and ends, and none if there was nothing to end', async () => {
    const envId = await newGuarded(world, tenant, null)
    await unprotect(world, tenant, envId)
    expect(await actionsOn(envId)).toEqual([])
    await write(envId, { requiredApprovals: 2 })
    await write(envId, { requiredApprovals: 1 })
    await unprotect(world, tenant, envId)
    expect(await actionsOn(envId)).toEqual([
      'env.protection_disabled',
      'env.protection_updated',
      'env.protection_enabled',
    ])
  })

  test('begins once when ten requests turn it on at the same time', async () => {
    const envId = await newGuarded(world, tenant, null)
    await Promise.all(Array.from({ length: 10 }, () => write(envId, {})))
    const actions = await actionsOn(envId)
    expect(actions.filter((action) => action === 'env.protection_enabled')).toHaveLength(1)
    expect(actions).toHaveLength(10)
  })

  test('accepts from 1 to 20 required approvals', async () => {
    const envId = await newGuarded(world, tenant)
    for (const requiredApprovals of [0, -1, 21, 1.5, '1', null])
      expect((await write(envId, { requiredApprovals })).status).toBe(400)
    expect((await write(envId, { requiredApprovals: 20 })).status).toBe(200)
  })

  test('can be changed only by admins, including tokens and machine clients, and seen by members', async () => {
    const envId = await newGuarded(world, tenant, null)
    const members = [await newToken(world, tenant), await newMember(world, tenant)]
    for (const by of members) {
      expect((await read(envId, by)).status).toBe(200)
      expect((await write(envId, {}, by)).status).toBe(403)
    }
    for (const by of [tenant.admin, tenant.machine, await newMember(world, tenant, 'admin')])
      expect((await write(envId, {}, by)).status).toBe(200)
    expect((await read(envId, (await signUp(world)).admin)).status).toBe(404)
  })

  test('shows how many changes wait', async () => {
    const envId = await newGuarded(world, tenant)
    const { id } = await proposePut(world, tenant, envId, 'A')
    await proposePut(world, tenant, envId, 'B')
    expect((await read(envId)).body.openChangeRequests).toBe(2)
    await world.call(changes.withdraw, {
      as: tenant.admin.as,
      params: { orgId: tenant.orgId, changeRequestId: id },
    })
    expect((await read(envId)).body.openChangeRequests).toBe(1)
  })

  test('is not part of an environment in answers', async () => {
    const envId = await newGuarded(world, tenant)
    const params = { orgId: tenant.orgId, envId }
    const { body } = await world.call(envs.get, { as: tenant.admin.as, params })
    expect(body.environment).not.toHaveProperty('protection')
  })

  test('is copied to a branch that a key holder forks, and is independent of it afterwards', async () => {
    const envId = await newGuarded(world, tenant, { requiredApprovals: 2, allowSelfApproval: true })
    const holder = await newToken(world, tenant)
    await grantKey(world, tenant, envId, holder)
    const branchId = await fork(envId, holder)
    expect((await read(branchId)).body.protection).toEqual({ requiredApprovals: 2, allowSelfApproval: true })
    expect(queuedIn(await put(branchId, holder)).requiredApprovals).toBe(2)
    await unprotect(world, tenant, branchId)
    expect((await put(branchId, holder)).status).toBe(201)
    expect((await read(envId)).body.protection).not.toBeNull()
  })

  test('of an environment does not affect the branches that it already has', async () => {
    const envId = await newGuarded(world, tenant, null)
    const branchId = await fork(envId)
    await protect(world, tenant, envId)
    expect((await put(branchId)).status).toBe(201)
  })
})

describe('a protected branch', () => {
  const remove = (envId: string, by: Actor) =>
    world.call(envs.delete, { as: by.as, params: { orgId: tenant.orgId, envId } })

  test('can be deleted only by admins, so a key holder cannot create it again without protection', async () => {
    const envId = await newGuarded(world, tenant, null)
    const holder = await newToken(world, tenant)
    await grantKey(world, tenant, envId, holder)
    const branchId = await fork(envId, holder)
    await protect(world, tenant, branchId)
    const { status, error } = await remove(branchId, holder)
    expect([status, error?.message]).toEqual([403, 'the branch is protected: deleting it needs the admin role'])
    expect((await read(branchId)).body.protection).not.toBeNull()
    await unprotect(world, tenant, branchId)
    expect((await remove(branchId, holder)).status).toBe(200)
    const again = await fork(envId, holder)
    await protect(world, tenant, again)
    expect((await remove(again, tenant.machine)).status).toBe(200)
  })
})
