import { audit } from '@skerry/contract/audit/endpoints'
import { branches } from '@skerry/contract/branches/endpoints'
import { grants } from '@skerry/contract/grants/endpoints'
import { limits } from '@skerry/contract/limits'
import { resolve } from '@skerry/contract/resolve/endpoints'
import { describe, expect, test } from 'vitest'
import { wrappedKey } from '../../../test/blobs.ts'
import { openEnv } from '../../../test/scene.ts'
import { type Actor, grantKey, newEnv, newMember, newToken, signUp } from '../../../test/tenant.ts'
import { endGrants } from './jobs.ts'

const { world, tenant, appId, envId } = await openEnv()
const { orgId } = tenant
/** Shorter than the bearers of people live. */
const span = 600

let count = 0
const newPlace = async () => (await newEnv(world, tenant, appId, `place-${++count}`)).id
const typeOf = ({ id }: Actor) => (id.startsWith('usr_') ? 'user' : 'service_token')
const grant = (to: Actor, more: object = {}, id = envId) =>
  world.call(grants.create, {
    as: tenant.admin.as,
    params: { orgId, envId: id },
    body: { principalType: typeOf(to), principalId: to.id, wrappedDek: wrappedKey(), ...more },
  })
const own = (actor: Actor, id = envId) => world.call(grants.own, { as: actor.as, params: { orgId, envId: id } })
const end = () => endGrants(world.server.context)
const expired = async () => {
  const query = { action: 'key.expired' }
  const { entries } = (await world.call(audit.list, { as: tenant.admin.as, params: { orgId }, query })).body
  return entries.map(({ actorType, metadata }) => ({ ...metadata, actorType, holder: metadata.principalId }))
}

describe('a temporary grant', () => {
  test('ends by itself, for a person and for a token, with one audit entry each', async () => {
    for (const actor of [await newToken(world, tenant), await newMember(world, tenant)]) {
      const { body } = await grant(actor, { seconds: span })
      expect(Date.parse(body.grant.endsAt as string) - Date.parse(body.grant.createdAt)).toBe(span * 1000)
      await end()
      expect((await own(actor)).status).toBe(200)
      world.clock.advance(span)
      await end()
      await end()
      expect((await own(actor)).status).toBe(403)
      expect((await expired()).filter(({ holder }) => holder === actor.id)).toMatchObject([
        { actorType: 'system', environmentId: envId, principalType: typeOf(actor), endsAt: body.grant.endsAt },
      ])
    }
  })

  test('is no longer answered from memory once it has ended', async () => {
    const token = await newToken(world, tenant)
    await grant(token, { seconds: span })
    const read = () => world.call(resolve.get, { as: token.as, query: { env: envId } })
    for (let round = 0; round < 3; round++) expect((await read()).status).toBe(200)
    world.clock.advance(span)
    await end()
    expect((await read()).status).toBe(403)
  })

  test('takes the keys of branches with it, and no other key of the holder', async () => {
    const [place, other] = [await newPlace(), await newPlace()]
    const person = await newMember(world, tenant)
    await grant(person, { seconds: span }, place)
    await grantKey(world, tenant, other, person)
    const forked = await world.call(branches.create, {
      as: tenant.admin.as,
      params: { orgId, envId: place },
      body: {
        slug: 'pr-7',
        wrappedDek: wrappedKey(),
        grants: [{ principalType: 'user', principalId: person.id, wrappedDek: wrappedKey() }],
      },
    })
    const branch = forked.body.branch.id
    expect((await own(person, branch)).status).toBe(200)
    world.clock.advance(span)
    await end()
    expect([(await own(person, place)).status, (await own(person, branch)).status]).toEqual([403, 403])
    expect((await own(person, other)).status).toBe(200)
    expect((await own(tenant.admin, branch)).status).toBe(200)
  })

  test('can be extended or made permanent by another grant; a permanent one cannot be shortened', async () => {
    const person = await newMember(world, tenant)
    await grant(person, { seconds: span })
    expect((await grant(person, { seconds: 2 * span })).status).toBe(201)
    world.clock.advance(span)
    await end()
    expect((await own(person)).status).toBe(200)
    expect((await grant(person)).body.grant.endsAt).toBeNull()
    world.clock.advance(2 * span)
    await end()
    expect((await own(person)).status).toBe(200)
    expect((await grant(person, { seconds: span })).error?.code).toBe('conflict')
  })

  test('of an admin gives nobody longer access, not even the admin', async () => {
    const place = await newPlace()
    const [admin, other] = [await newMember(world, tenant, 'admin'), await newMember(world, tenant)]
    await grant(admin, { seconds: 2 * span }, place)
    const give = (to: Actor, more: object = {}) =>
      world.call(grants.create, {
        as: admin.as,
        params: { orgId, envId: place },
        body: { principalType: 'user', principalId: to.id, wrappedDek: wrappedKey(), ...more },
      })
    for (const [to, more] of [
      [admin, {}],
      [other, {}],
      [other, { seconds: 3 * span }],
    ] as const)
      expect((await give(to, more)).error?.message).toContain('your own access ends at')
    expect((await give(other, { seconds: span })).status).toBe(201)
  })

  test('of an admin is shown in the list of missing keys, until it ends', async () => {
    const place = await newPlace()
    const [admin, other] = [await newMember(world, tenant, 'admin'), await newMember(world, tenant)]
    const { endsAt } = (await grant(admin, { seconds: span }, place)).body.grant
    const plan = { params: { orgId, userId: other.id }, body: { environmentIds: [place] } }
    await world.call(grants.plan, { as: tenant.admin.as, ...plan })
    const listed = async ({ as }: Actor) =>
      (await world.call(grants.missing, { as, params: { orgId }, query: { userId: other.id } })).body.missing
    expect(await listed(admin)).toMatchObject([{ environmentId: place, held: false, heldUntil: endsAt }])
    expect(await listed(tenant.admin)).toMatchObject([{ environmentId: place, held: true, heldUntil: null }])
    world.clock.advance(span)
    expect(await listed(admin)).toMatchObject([{ environmentId: place, held: false, heldUntil: null }])
  })

  test('lasts between five minutes and ninety days', async () => {
    const person = await newMember(world, tenant)
    for (const seconds of [0, limits.grantSecondsMin - 1, limits.grantSecondsMax + 1, 300.5, '300', null])
      expect((await grant(person, { seconds })).error?.message).toContain('body.seconds')
    expect((await grant(person, { seconds: limits.grantSecondsMax })).status).toBe(201)
  })
})

describe('the overview of access', () => {
  const overview = async (actor: Actor, query: Record<string, string> = {}) =>
    world.call(grants.overview, { as: actor.as, params: { orgId }, query })

  test('names every holder of every environment, and no wrapped key', async () => {
    const [place, person] = [await newPlace(), await newMember(world, tenant)]
    await grant(person, { seconds: span }, place)
    const { access } = (await overview(tenant.admin)).body
    const found = access.filter(({ environmentId }) => environmentId === place)
    expect(found).toMatchObject([
      { principalType: 'service_token', principalId: tenant.admin.id, endsAt: null, inForce: true },
      { principalType: 'user', principalId: person.id, endsAt: expect.any(String), inForce: true },
    ])
    expect(found[0]?.label).toMatch(/\/place-\d+$/)
    expect(JSON.stringify(access)).not.toContain('wd1.')
  })

  test('can be read in pages', async () => {
    const whole = (await overview(tenant.admin)).body.access
    const first = (await overview(tenant.admin, { limit: '2' })).body
    expect(first.access).toEqual(whole.slice(0, 2))
    const query = { limit: '200', cursor: first.nextCursor as string }
    expect((await overview(tenant.admin, query)).body.access).toEqual(whole.slice(2))
  })

  test('is for admins of the organization; bound tokens may not read it', async () => {
    const bound = await newToken(world, tenant, { role: 'admin', environmentId: envId })
    const stranger = await signUp(world)
    const answers = [await newMember(world, tenant), bound, stranger.admin].map((actor) => overview(actor))
    expect((await Promise.all(answers)).map(({ status }) => status)).toEqual([403, 403, 404])
  })
})
