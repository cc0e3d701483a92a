import { apps } from '@skerry/contract/apps/endpoints'
import { branches } from '@skerry/contract/branches/endpoints'
import { envs } from '@skerry/contract/envs/endpoints'
import { composition } from '@skerry/contract/groups/endpoints'
import { me } from '@skerry/contract/me/endpoints'
import { secrets } from '@skerry/contract/secrets/endpoints'
import { describe, expect, test } from 'vitest'
import { wrappedKey } from '../../../test/blobs.ts'
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
  test('answers the application as it is stored', async () => {
    const { status, body } = await create('billing', tenant.admin, 'Billing service')
    expect(status).toBe(201)
    expect(body.app).toMatchObject({ orgId: tenant.orgId, name: 'Billing service', slug: 'billing' })
    expect((await read(body.app.id)).body).toEqual({ app: body.app, environments: [] })
  })

  test('is for admins (a machine client, an admin token, an admin), and not for members or member tokens', async () => {
    const person = await newMember(world, tenant, 'admin')
    for (const [n, actor] of [tenant.machine, tenant.admin, person].entries())
      expect((await create(`by-admin-${n}`, actor)).status).toBe(201)
    for (const actor of [await newMember(world, tenant), await newToken(world, tenant)])
      expect((await create('by-member', actor)).status).toBe(403)
  })

  test('with the slug of another one is a conflict, but only in the same organization', async () => {
    const stranger = await signUp(world)
    await create('taken')
    const { status, error } = await create('taken')
    expect([status, error?.code]).toEqual([409, 'conflict'])
    const body = { name: 'Same', slug: 'taken' }
    const answer = await world.call(apps.create, { as: stranger.admin.as, params: { orgId: stranger.orgId }, body })
    expect(answer.status).toBe(201)
  })

  test('ten times at once under one slug succeeds once', async () => {
    const answers = await Promise.all(Array.from({ length: 10 }, () => create('raced')))
    expect(answers.map((answer) => answer.status).sort()).toEqual([201, ...Array(9).fill(409)])
  })
})

describe('an application', () => {
  test('can be renamed and keeps its slug, which no body can change', async () => {
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

  test('can be read by any member, but not renamed or deleted', async () => {
    const app = await newApp(world, tenant)
    const params = { ...org(), appId: app.id }
    for (const actor of [await newMember(world, tenant), await newToken(world, tenant)]) {
      expect((await read(app.id, actor)).status).toBe(200)
      expect((await world.call(apps.update, { as: actor.as, params, body: { name: 'No' } })).status).toBe(403)
      expect((await world.call(apps.delete, { as: actor.as, params })).status).toBe(403)
    }
    expect((await read(app.id)).body.app).toEqual(app)
  })

  test('is deleted with its environments, their branches, secrets, grants, compositions and bound tokens', async () => {
    const app = await newApp(world, tenant)
    const env = await newEnv(world, tenant, app.id)
    const group = await newGroup(world, tenant)
    const forked = { slug: 'feature', wrappedDek: wrappedKey() }
    const on = { ...org(), envId: env.id }
    const { branch } = (await world.call(branches.create, { as: tenant.admin.as, params: on, body: forked })).body
    const bound = await newToken(world, tenant, { environmentId: env.id })
    const boundToBranch = await newToken(world, tenant, { environmentId: branch.id })
    const free = await newToken(world, tenant)
    for (const { id } of [env, branch]) {
      await grantKey(world, tenant, id, free)
      await putSecret(world, tenant, id, 'A')
    }
    await grantKey(world, tenant, env.id, bound)
    await grantKey(world, tenant, branch.id, boundToBranch)
    const composed = { as: tenant.admin.as, params: on, body: { groupId: group.id } }
    await world.call(composition.set, composed)
    const params = { ...org(), appId: app.id }
    expect((await world.call(apps.delete, { as: tenant.admin.as, params })).body).toEqual({ ok: true })
    expect((await read(app.id)).status).toBe(404)
    expect((await world.call(apps.delete, { as: tenant.admin.as, params })).status).toBe(404)
    for (const token of [bound, boundToBranch]) expect((await world.call(me.get, { as: token.as })).status).toBe(401)
    expect((await world.call(me.get, { as: free.as })).status).toBe(200)
    const { db } = world.server.context
    const ids = [env.id, branch.id]
    for (const envId of ids)
      expect((await world.call(envs.get, { as: tenant.admin.as, params: { ...org(), envId } })).status).toBe(404)
    expect(await db.rows('select 1 from environments where id = any($1::text[])', [ids])).toEqual([])
    for (const table of ['secrets', 'key_grants', 'compositions'])
      expect(await db.rows(`select 1 from ${table} where environment_id = any($1::text[])`, [ids])).toEqual([])
    expect((await create(app.slug)).status).toBe(201)
  })

  test('is found only by its own organization', async () => {
    const app = await newApp(world, tenant)
    const stranger = await signUp(world)
    const foreign = { orgId: stranger.orgId, appId: app.id }
    expect((await world.call(apps.get, { as: stranger.admin.as, params: foreign })).status).toBe(404)
    expect((await read(app.id, stranger.admin)).status).toBe(404)
  })
})

describe('the environments of an application', () => {
  test('show each caller whether it can decrypt them, in both lists', async () => {
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

  test('are missing from the lists after they are deleted, and so are their secrets', async () => {
    const app = await newApp(world, tenant)
    const env = await newEnv(world, tenant, app.id)
    await putSecret(world, tenant, env.id, 'A')
    await world.call(envs.delete, { as: tenant.admin.as, params: { ...org(), envId: env.id } })
    expect((await read(app.id)).body.environments).toEqual([])
    const params = { ...org(), envId: env.id }
    expect((await world.call(secrets.list, { as: tenant.admin.as, params })).status).toBe(404)
  })
})
