import { apps } from '@skerry/contract/apps/endpoints'
import { envs } from '@skerry/contract/envs/endpoints'
import { composition } from '@skerry/contract/groups/endpoints'
import { me } from '@skerry/contract/me/endpoints'
import { secrets } from '@skerry/contract/secrets/endpoints'
import { describe, expect, test } from 'vitest'
import { openTenant } from '../../../test/scene.ts'
import {
  type Actor,
  grantKey,
  newApp,
  newEnv,
  newGroup,
  newMember,
  newToken,
  putSecret,
  signUp,
} from '../../../test/tenant.ts'

const { world, tenant } = await openTenant()

const org = () => ({ orgId: tenant.orgId })
const create = (slug: string, actor: Actor = tenant.admin, name = slug) =>
  world.call(apps.create, { as: actor.as, params: org(), body: { name, slug } })
const read = (appId: string, actor: Actor = tenant.admin) =>
  world.call(apps.get, { as: actor.as, params: { ...org(), appId } })

describe('creating an application', () => {
  test('answers it as it is stored', async () => {
    const { status, body } = await create('billing', tenant.admin, 'Billing service')
    expect(status).toBe(201)
    expect(body.app).toMatchObject({ orgId: tenant.orgId, name: 'Billing service', slug: 'billing' })
    expect((await read(body.app.id)).body).toEqual({ app: body.app, environments: [] })
  })

  test('is for admins: a machine client, an admin token and an admin, not a member or a member token', async () => {
    const person = await newMember(world, tenant, 'admin')
    for (const [n, actor] of [tenant.machine, tenant.admin, person].entries())
      expect((await create(`by-admin-${n}`, actor)).status).toBe(201)
    for (const actor of [await newMember(world, tenant), await newToken(world, tenant)])
      expect((await create('by-member', actor)).status).toBe(403)
  })

  test('under a taken slug is a conflict, in the same organization only', async () => {
    const stranger = await signUp(world)
    await create('taken')
    const { status, error } = await create('taken')
    expect([status, error?.code]).toEqual([409, 'conflict'])
    const body = { name: 'Same', slug: 'taken' }
    const answer = await world.call(apps.create, { as: stranger.admin.as, params: { orgId: stranger.orgId }, body })
    expect(answer.status).toBe(201)
  })

  test('of ten at once under one slug, one succeeds', async () => {
    const answers = await Promise.all(Array.from({ length: 10 }, () => create('raced')))
    expect(answers.map((answer) => answer.status).sort()).toEqual([201, ...Array(9).fill(409)])
  })
})

describe('an application', () => {
  test('is renamed and keeps its slug, which no body can name', async () => {
    const app = await newApp(world, tenant)
    const params = { ...org(), appId: app.id }
    const rename = (body: Record<string, unknown>) => world.call(apps.update, { as: tenant.machine.as, params, body })
    world.clock.advance(2)
    const { body } = await rename({ name: 'Another name' })
    expect(body.app).toEqual({ ...app, name: 'Another name', updatedAt: body.app.updatedAt })
    expect(body.app.updatedAt > app.updatedAt).toBe(true)
    expect((await rename({ name: 'x', slug: 'moved' })).status).toBe(400)
    expect((await read(app.id)).body.app).toEqual(body.app)
  })

  test('is read by any member, and renamed and deleted by none', async () => {
    const app = await newApp(world, tenant)
    const params = { ...org(), appId: app.id }
    for (const actor of [await newMember(world, tenant), await newToken(world, tenant)]) {
      expect((await read(app.id, actor)).status).toBe(200)
      expect((await world.call(apps.update, { as: actor.as, params, body: { name: 'No' } })).status).toBe(403)
      expect((await world.call(apps.delete, { as: actor.as, params })).status).toBe(403)
    }
    expect((await read(app.id)).body.app).toEqual(app)
  })

  test('that is deleted takes environments, branches, secrets, grants, compositions and bound tokens along', async () => {
    const app = await newApp(world, tenant)
    const env = await newEnv(world, tenant, app.id)
    const group = await newGroup(world, tenant)
    const bound = await newToken(world, tenant, { environmentId: env.id })
    const free = await newToken(world, tenant)
    for (const token of [bound, free]) await grantKey(world, tenant, env.id, token)
    await putSecret(world, tenant, env.id, 'A')
    const composed = { as: tenant.admin.as, params: { ...org(), envId: env.id }, body: { groupId: group.id } }
    await world.call(composition.set, composed)
    const params = { ...org(), appId: app.id }
    expect((await world.call(apps.delete, { as: tenant.admin.as, params })).body).toEqual({ ok: true })
    expect((await read(app.id)).status).toBe(404)
    expect((await world.call(apps.delete, { as: tenant.admin.as, params })).status).toBe(404)
    expect((await world.call(me.get, { as: bound.as })).status).toBe(401)
    expect((await world.call(me.get, { as: free.as })).status).toBe(200)
    const { db } = world.server.context
    for (const table of ['secrets', 'key_grants', 'compositions'])
      expect(await db.rows(`select 1 from ${table} where environment_id = '${env.id}'`)).toEqual([])
    expect((await create(app.slug)).status).toBe(201)
  })

  test('is found by its own organization alone', async () => {
    const app = await newApp(world, tenant)
    const stranger = await signUp(world)
    const foreign = { orgId: stranger.orgId, appId: app.id }
    expect((await world.call(apps.get, { as: stranger.admin.as, params: foreign })).status).toBe(404)
    expect((await read(app.id, stranger.admin)).status).toBe(404)
  })
})

describe('its environments', () => {
  test('say of each caller whether it can decrypt them, in both lists', async () => {
    const app = await newApp(world, tenant)
    const [production, staging] = [await newEnv(world, tenant, app.id), await newEnv(world, tenant, app.id, 'staging')]
    const token = await newToken(world, tenant)
    const person = await newMember(world, tenant)
    await grantKey(world, tenant, production.id, token)
    await grantKey(world, tenant, staging.id, person)
    const seen = async (actor: Actor) => {
      const params = { ...org(), appId: app.id }
      const list = (await world.call(apps.envs, { as: actor.as, params })).body.environments
      expect((await read(app.id, actor)).body.environments).toEqual(list)
      return list.map(({ slug, canDecrypt }) => [slug, canDecrypt])
    }
    const of = (first: boolean, second: boolean) => [
      ['production', first],
      ['staging', second],
    ]
    expect(await seen(tenant.admin)).toEqual(of(true, true))
    expect(await seen(token)).toEqual(of(true, false))
    expect(await seen(person)).toEqual(of(false, true))
    expect(await seen(tenant.machine)).toEqual(of(false, false))
  })

  test('are gone from the lists when they are deleted, with their secrets', async () => {
    const app = await newApp(world, tenant)
    const env = await newEnv(world, tenant, app.id)
    await putSecret(world, tenant, env.id, 'A')
    await world.call(envs.delete, { as: tenant.admin.as, params: { ...org(), envId: env.id } })
    expect((await read(app.id)).body.environments).toEqual([])
    const params = { ...org(), envId: env.id }
    expect((await world.call(secrets.list, { as: tenant.admin.as, params })).status).toBe(404)
  })
})
