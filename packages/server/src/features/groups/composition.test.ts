import { branches } from '@skerry/contract/branches/endpoints'
import { composition } from '@skerry/contract/groups/endpoints'
import { describe, expect, test } from 'vitest'
import { wrappedKey } from '../../../test/blobs.ts'
import { openTenant } from '../../../test/scene.ts'
import { type Actor, newApp, newEnv, newGroup, newGroupEnv, newMember, newToken, signUp } from '../../../test/tenant.ts'

const { world, tenant } = await openTenant()
const appId = (await newApp(world, tenant)).id

let count = 0
const newPlace = async () => (await newEnv(world, tenant, appId, `place-${++count}`)).id
const on = (envId: string) => ({ orgId: tenant.orgId, envId })
const set = (envId: string, groupId: string, position?: number, actor: Actor = tenant.admin) =>
  world.call(composition.set, {
    as: actor.as,
    params: on(envId),
    body: { groupId, ...(position === undefined ? {} : { position }) },
  })
const take = (envId: string, groupId: string, actor: Actor = tenant.admin) =>
  world.call(composition.delete, { as: actor.as, params: { ...on(envId), groupId } })
const list = async (envId: string, actor: Actor = tenant.admin) =>
  (await world.call(composition.list, { as: actor.as, params: on(envId) })).body.groups
const order = async (envId: string) => (await list(envId)).map(({ slug, position }) => [slug, position])

describe('composing', () => {
  test('adds a group with 201, and answers the same call again with 200', async () => {
    const [envId, group] = [await newPlace(), await newGroup(world, tenant)]
    const first = await set(envId, group.id)
    const again = await set(envId, group.id)
    expect([first.status, again.status]).toEqual([201, 200])
    expect(again.body).toEqual(first.body)
    expect(await list(envId)).toEqual([{ groupId: group.id, slug: group.slug, name: group.name, position: 0 }])
  })

  test('appends after the highest position, not into a gap', async () => {
    const envId = await newPlace()
    const [a, b, c, d] = await Promise.all(Array.from({ length: 4 }, () => newGroup(world, tenant)))
    await set(envId, a?.id as string, 3)
    await set(envId, b?.id as string)
    await set(envId, c?.id as string, 10)
    await set(envId, d?.id as string)
    expect(await order(envId)).toEqual([
      [a?.slug, 3],
      [b?.slug, 4],
      [c?.slug, 10],
      [d?.slug, 11],
    ])
  })

  test('a group again without a position leaves it where it is, and with a position moves it', async () => {
    const envId = await newPlace()
    const [a, b] = [await newGroup(world, tenant), await newGroup(world, tenant)]
    await set(envId, a.id)
    await set(envId, b.id)
    await set(envId, a.id)
    expect(await order(envId)).toEqual([
      [a.slug, 0],
      [b.slug, 1],
    ])
    const moved = await set(envId, a.id, 7)
    expect([moved.status, moved.body.group.position]).toEqual([200, 7])
    expect(await order(envId)).toEqual([
      [b.slug, 1],
      [a.slug, 7],
    ])
  })

  test('ten groups at once without a position gives each its own', async () => {
    const envId = await newPlace()
    const made = await Promise.all(Array.from({ length: 10 }, () => newGroup(world, tenant)))
    const answers = await Promise.all(made.map(({ id }) => set(envId, id)))
    expect(answers.map((answer) => answer.status)).toEqual(Array(10).fill(201))
    expect((await list(envId)).map(({ position }) => position)).toEqual([0, 1, 2, 3, 4, 5, 6, 7, 8, 9])
  })

  test('one group ten times at once adds it once', async () => {
    const [envId, group] = [await newPlace(), await newGroup(world, tenant)]
    const answers = await Promise.all(Array.from({ length: 10 }, () => set(envId, group.id)))
    expect(answers.map((answer) => answer.status).sort()).toEqual([...Array(9).fill(200), 201])
    expect(await list(envId)).toHaveLength(1)
  })

  test('above the highest position is a conflict', async () => {
    const envId = await newPlace()
    await set(envId, (await newGroup(world, tenant)).id, 1_000_000)
    expect((await set(envId, (await newGroup(world, tenant)).id)).status).toBe(409)
    for (const position of [-1, 1.5, 1_000_001])
      expect((await set(envId, (await newGroup(world, tenant)).id, position)).status).toBe(400)
  })

  test('works only for environments of applications, not for those of groups or branches', async () => {
    const [envId, group] = [await newPlace(), await newGroup(world, tenant)]
    const ofGroup = await newGroupEnv(world, tenant, group.id)
    const forked = await world.call(branches.create, {
      as: tenant.admin.as,
      params: on(envId),
      body: { slug: 'fork', wrappedDek: wrappedKey() },
    })
    for (const place of [ofGroup.id, forked.body.branch.id]) {
      const { status, error } = await set(place, group.id)
      expect([status, error?.code]).toEqual([400, 'invalid_request'])
      expect(await list(place)).toEqual([])
    }
  })

  test('accepts only groups of the same organization', async () => {
    const stranger = await signUp(world)
    const theirs = await newGroup(world, stranger)
    const envId = await newPlace()
    expect((await set(envId, theirs.id)).status).toBe(404)
    expect((await set(envId, `grp_${'0'.repeat(22)}`)).status).toBe(404)
    expect(await list(envId)).toEqual([])
  })

  test('is only for admins, but every member can list the groups', async () => {
    const [envId, group] = [await newPlace(), await newGroup(world, tenant)]
    expect((await set(envId, group.id, 0, tenant.machine)).status).toBe(201)
    for (const actor of [await newMember(world, tenant), await newToken(world, tenant)]) {
      expect((await set(envId, group.id, 1, actor)).status).toBe(403)
      expect((await take(envId, group.id, actor)).status).toBe(403)
      expect(await list(envId, actor)).toHaveLength(1)
    }
  })
})

describe('removing a group', () => {
  test('leaves the others where they are', async () => {
    const envId = await newPlace()
    const [a, b, c] = [await newGroup(world, tenant), await newGroup(world, tenant), await newGroup(world, tenant)]
    for (const { id } of [a, b, c]) await set(envId, id)
    expect((await take(envId, b.id)).body).toEqual({ ok: true })
    expect(await order(envId)).toEqual([
      [a.slug, 0],
      [c.slug, 2],
    ])
  })

  test('that is not composed is answered with 404', async () => {
    const [envId, group] = [await newPlace(), await newGroup(world, tenant)]
    expect((await take(envId, group.id)).status).toBe(404)
    await set(envId, group.id)
    await take(envId, group.id)
    expect((await take(envId, group.id)).status).toBe(404)
  })
})
