import { apps } from '@skerry/contract/apps/endpoints'
import { changes, protection } from '@skerry/contract/changes/endpoints'
import { envs } from '@skerry/contract/envs/endpoints'
import { grants } from '@skerry/contract/grants/endpoints'
import { composition, groups } from '@skerry/contract/groups/endpoints'
import { members } from '@skerry/contract/members/endpoints'
import { tokens } from '@skerry/contract/tokens/endpoints'
import { describe, expect, test } from 'vitest'
import { newId } from '../../src/kernel/context.ts'
import { publicKeyJwk, wrappedKey } from '../blobs.ts'
import { newGuarded, proposePut } from '../guarded.ts'
import { openEnv } from '../scene.ts'
import { newApp, newEnv, newGroup, newGroupEnv, newMember, newToken } from '../tenant.ts'

// An admin token that is bound to an environment tries to act outside of its application. The matrix cannot show this.

const { world, tenant, appId, envId } = await openEnv()
const { orgId } = tenant
const bound = await newToken(world, tenant, { role: 'admin', environmentId: envId })
const { as } = bound
const elsewhere = await newApp(world, tenant)
const foreignEnvId = (await newEnv(world, tenant, elsewhere.id)).id

const reason = 'this token is bound to another application'

describe('an admin token that is bound to an environment', () => {
  test('cannot create tokens, neither bound nor unbound ones', async () => {
    const body = { name: 'free', publicKeyJwk: publicKeyJwk(), role: 'admin', tokenHash: 'A'.repeat(43) }
    for (const more of [{}, { environmentId: foreignEnvId }, { environmentId: envId }]) {
      const asked = { ...body, ...more, tokenId: newId('serviceToken') }
      const { status, error } = await world.call(tokens.create, { as, params: { orgId }, body: asked })
      expect([status, error?.message]).toEqual([403, 'this token is bound to an environment'])
    }
  })

  test('manages its own application, and no other', async () => {
    const sibling = await newEnv(world, tenant, appId, 'staging')
    const protect = (id: string) => world.call(protection.put, { as, params: { orgId, envId: id }, body: {} })
    expect((await protect(sibling.id)).status).toBe(200)
    const { status, error } = await protect(foreignEnvId)
    expect([status, error?.message]).toEqual([403, reason])
    expect((await world.call(protection.delete, { as, params: { orgId, envId: foreignEnvId } })).status).toBe(403)
    const grant = { principalType: 'service_token', principalId: bound.id, wrappedDek: wrappedKey() }
    const given = await world.call(grants.create, { as, params: { orgId, envId: foreignEnvId }, body: grant })
    expect(given.error?.message).toBe(reason)
    const renamed = await world.call(apps.update, { as, params: { orgId, appId: elsewhere.id }, body: { name: 'x' } })
    expect(renamed.error?.message).toBe(reason)
  })

  test('may read environments of groups that are composed into its application, but not manage them', async () => {
    const group = await newGroup(world, tenant)
    const slice = await newGroupEnv(world, tenant, group.id)
    const params = { orgId, envId: slice.id }
    expect((await world.call(envs.get, { as, params })).error?.message).toBe(reason)
    await world.call(composition.set, { as, params: { orgId, envId }, body: { groupId: group.id } })
    expect((await world.call(envs.get, { as, params })).status).toBe(200)
    const refused = [
      await world.call(envs.update, { as, params, body: { name: 'mine' } }),
      await world.call(envs.delete, { as, params }),
      await world.call(protection.put, { as, params, body: {} }),
      await world.call(grants.list, { as, params }),
      await world.call(groups.delete, { as, params: { orgId, groupId: group.id } }),
    ]
    expect(refused.map(({ status }) => status)).toEqual(Array(5).fill(403))
  })

  test('lists and withdraws only change requests of its application', async () => {
    const guardedId = await newGuarded(world, tenant)
    const foreign = await proposePut(world, tenant, guardedId, 'ELSEWHERE')
    await world.call(protection.put, { as, params: { orgId, envId }, body: {} })
    const own = await proposePut(world, tenant, envId, 'HERE')
    const { body } = await world.call(changes.list, { as, params: { orgId } })
    expect(body.changeRequests.map(({ id }) => id)).toEqual([own.id])
    const withdraw = (id: string) => world.call(changes.withdraw, { as, params: { orgId, changeRequestId: id } })
    expect((await withdraw(foreign.id)).error?.message).toBe(reason)
    expect((await withdraw(own.id)).status).toBe(200)
  })

  test('cannot remove a member from the organization', async () => {
    const person = await newMember(world, tenant)
    expect((await world.call(members.remove, { as, params: { orgId, userId: person.id } })).status).toBe(403)
  })
})
