import { envs } from '@skerry/contract/envs/endpoints'
import { composition, groups } from '@skerry/contract/groups/endpoints'
import { describe, expect, test } from 'vitest'
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

const org = () => ({ orgId: tenant.orgId })
const create = (slug: string, actor: Actor = tenant.admin) =>
  world.call(groups.create, { as: actor.as, params: org(), body: { name: slug, slug } })
const read = (groupId: string, actor: Actor = tenant.admin) =>
  world.call(groups.get, { as: actor.as, params: { ...org(), groupId } })

describe('creating a group', () => {
  test('answers the group as it is stored', async () => {
    const { status, body } = await create('shared')
    expect([status, body.group.slug, body.group.orgId]).toEqual([201, 'shared', tenant.orgId])
    expect((await read(body.group.id)).body).toEqual({ group: body.group, environments: [] })
  })

  test('is for admins, including machine clients', async () => {
    expect((await create('by-machine', tenant.machine)).status).toBe(201)
    expect((await create('by-person', await newMember(world, tenant, 'admin'))).status).toBe(201)
    for (const actor of [await newMember(world, tenant), await newToken(world, tenant)])
      expect((await create('by-member', actor)).status).toBe(403)
  })

  test('with the slug of another group is a conflict, but an application may have the same', async () => {
    await create('taken')
    const { status, error } = await create('taken')
    expect([status, error?.code, error?.message]).toEqual([409, 'conflict', 'body.slug: another group uses it'])
    expect((await newApp(world, tenant, 'taken')).slug).toBe('taken')
  })
})

describe('a group', () => {
  test('can be renamed and keeps its slug', async () => {
    const group = await newGroup(world, tenant)
    const params = { ...org(), groupId: group.id }
    const rename = (actor: Actor, body: Record<string, unknown>) =>
      world.call(groups.update, { as: actor.as, params, body })
    world.clock.advance(2)
    const { body } = await rename(tenant.machine, { name: 'Another name' })
    expect(body.group).toEqual({ ...group, name: 'Another name', updatedAt: body.group.updatedAt })
    expect(body.group.updatedAt > group.updatedAt).toBe(true)
    expect((await rename(tenant.admin, { name: 'x', slug: 'moved' })).status).toBe(400)
    expect((await rename(await newToken(world, tenant), { name: 'No' })).status).toBe(403)
    expect((await read(group.id)).body.group).toEqual(body.group)
  })

  test('shows its environments, and to each caller which of them it can decrypt', async () => {
    const group = await newGroup(world, tenant)
    const production = await newGroupEnv(world, tenant, group.id)
    await newGroupEnv(world, tenant, group.id, 'staging')
    const token = await newToken(world, tenant)
    await grantKey(world, tenant, production.id, token)
    const list = await world.call(groups.envs, { as: token.as, params: { ...org(), groupId: group.id } })
    expect(list.body.environments.map(({ slug, canDecrypt }) => [slug, canDecrypt])).toEqual([
      ['production', true],
      ['staging', false],
    ])
    expect((await read(group.id, token)).body.environments).toEqual(list.body.environments)
  })

  test('is deleted with its compositions, environments, secrets and grants', async () => {
    const group = await newGroup(world, tenant)
    const inGroup = await newGroupEnv(world, tenant, group.id)
    await putSecret(world, tenant, inGroup.id, 'A')
    const env = await newEnv(world, tenant, (await newApp(world, tenant)).id)
    const params = { ...org(), envId: env.id }
    await world.call(composition.set, { as: tenant.admin.as, params, body: { groupId: group.id } })
    const target = { ...org(), groupId: group.id }
    expect((await world.call(groups.delete, { as: (await newToken(world, tenant)).as, params: target })).status).toBe(
      403,
    )
    expect((await world.call(groups.delete, { as: tenant.admin.as, params: target })).body).toEqual({ ok: true })
    expect((await world.call(composition.list, { as: tenant.admin.as, params })).body.groups).toEqual([])
    expect((await read(group.id)).status).toBe(404)
    const gone = { ...org(), envId: inGroup.id }
    expect((await world.call(envs.get, { as: tenant.admin.as, params: gone })).status).toBe(404)
    expect((await world.call(groups.delete, { as: tenant.admin.as, params: target })).status).toBe(404)
  })

  test('is found only by its own organization', async () => {
    const group = await newGroup(world, tenant)
    const stranger = await signUp(world)
    const params = { orgId: stranger.orgId, groupId: group.id }
    expect((await world.call(groups.get, { as: stranger.admin.as, params })).status).toBe(404)
    expect((await world.call(groups.delete, { as: stranger.admin.as, params })).status).toBe(404)
    expect((await read(group.id)).status).toBe(200)
  })
})
