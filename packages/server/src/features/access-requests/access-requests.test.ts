import { accessRequests } from '@skerry/contract/access-requests/endpoints'
import { audit } from '@skerry/contract/audit/endpoints'
import { envs } from '@skerry/contract/envs/endpoints'
import { grants } from '@skerry/contract/grants/endpoints'
import { limits } from '@skerry/contract/limits'
import { members } from '@skerry/contract/members/endpoints'
import { describe, expect, test } from 'vitest'
import { wrappedKey } from '../../../test/blobs.ts'
import { openTenant } from '../../../test/scene.ts'
import { type Actor, grantKey, newApp, newEnv, newMember, newToken, signUp } from '../../../test/tenant.ts'
import { newId } from '../../kernel/context.ts'
import { putGrants } from '../../model/grants/write.ts'
import { closeRequests } from './jobs.ts'

const { world, tenant } = await openTenant()
const { orgId } = tenant
const appId = (await newApp(world, tenant)).id
const day = 86_400

let count = 0
const newPlace = async () => (await newEnv(world, tenant, appId, `env-${++count}`)).id
const ask = ({ as }: Pick<Actor, 'as'>, environmentIds: string[], more: object = {}) =>
  world.call(accessRequests.create, { as, params: { orgId }, body: { environmentIds, ...more } })
const list = async ({ as }: Pick<Actor, 'as'>, query: Record<string, string> = {}) =>
  (await world.call(accessRequests.list, { as, params: { orgId }, query })).body
const show = ({ as }: Pick<Actor, 'as'>, accessRequestId: string) =>
  world.call(accessRequests.get, { as, params: { orgId, accessRequestId } })
const decline = ({ as }: Pick<Actor, 'as'>, accessRequestId: string, body: object = {}) =>
  world.call(accessRequests.decline, { as, params: { orgId, accessRequestId }, body })
const withdraw = ({ as }: Pick<Actor, 'as'>, accessRequestId: string) =>
  world.call(accessRequests.withdraw, { as, params: { orgId, accessRequestId } })
const statusOf = async (actor: Actor, id: string) => (await show(actor, id)).body.request.status
const trail = async (resourceId: string) => {
  const query = { resourceId }
  const { entries } = (await world.call(audit.list, { as: tenant.admin.as, params: { orgId }, query })).body
  return entries.map(({ action, actorType, metadata }) => [action, actorType, metadata])
}

describe('asking for access', () => {
  test('names environments and a reason, which admins and the person see, and nobody else', async () => {
    const [one, two] = [await newPlace(), await newPlace()]
    const [person, other] = [await newMember(world, tenant), await newMember(world, tenant)]
    const admin = await newMember(world, tenant, 'admin')
    const { status, body } = await ask(person, [one, two], { reason: 'I fix the checkout' })
    expect(status).toBe(201)
    const { request } = body
    expect(request).toMatchObject({ status: 'open', userId: person.id, reason: 'I fix the checkout', closedAt: null })
    expect(request.environments.map(({ environmentId }) => environmentId).sort()).toEqual([one, two].sort())
    expect(request.environments[0]).toMatchObject({ label: expect.stringMatching(/\/env-\d+$/), granted: false })
    expect(Date.parse(request.expiresAt) - Date.parse(request.createdAt)).toBe(limits.accessRequestTtlSeconds * 1000)
    for (const who of [person, admin, tenant.admin, tenant.machine]) {
      expect((await list(who)).requests.map(({ id }) => id)).toContain(request.id)
      expect((await show(who, request.id)).status).toBe(200)
    }
    expect(await list(other)).toMatchObject({ requests: [], open: 0 })
    const answers = [await show(other, request.id), await show(other, newId('accessRequest'))]
    expect(answers.map(({ status, error }) => [status, error])).toEqual(Array(2).fill([404, answers[0]?.error]))
    expect(await trail(request.id)).toEqual([
      ['access_request.opened', 'user', { userId: person.id, environmentIds: [one, two], reason: request.reason }],
    ])
  })

  test('may say for how long, which the admins see', async () => {
    const [place, person] = [await newPlace(), await newMember(world, tenant)]
    const { request } = (await ask(person, [place], { forSeconds: 8 * 3600 })).body
    expect((await show(tenant.admin, request.id)).body.request.forSeconds).toBe(8 * 3600)
    expect((await trail(request.id))[0]?.[2]).toMatchObject({ forSeconds: 8 * 3600 })
    for (const forSeconds of [299, 90 * day + 1, 1.5, '8h'])
      expect((await ask(person, [await newPlace()], { forSeconds })).error?.message).toContain('body.forSeconds')
  })

  test('says for each environment whether the caller could grant it', async () => {
    const [place, person] = [await newPlace(), await newMember(world, tenant)]
    const keyless = await newMember(world, tenant, 'admin')
    const { id } = (await ask(person, [place])).body.request
    const heldBy = async (actor: Actor) => (await show(actor, id)).body.request.environments.map(({ held }) => held)
    expect([await heldBy(tenant.admin), await heldBy(keyless), await heldBy(person)]).toEqual([
      [true],
      [false],
      [false],
    ])
  })

  test('for what one can read or has asked for is a conflict that names the environment', async () => {
    const [read, asked] = [await newPlace(), await newPlace()]
    const person = await newMember(world, tenant)
    await grantKey(world, tenant, read, person)
    await ask(person, [asked])
    for (const [place, words] of [
      [read, 'hold the key'],
      [asked, 'asked for'],
    ] as const) {
      const { status, error } = await ask(person, [await newPlace(), place])
      expect([status, error?.message]).toEqual([409, expect.stringMatching(new RegExp(`${words}.*/env-`))])
    }
    expect((await list(person)).open).toBe(1)
  })

  test('for an environment of another organization, or none, is refused', async () => {
    const stranger = await signUp(world)
    const theirs = (await newEnv(world, stranger, (await newApp(world, stranger)).id)).id
    const person = await newMember(world, tenant)
    for (const place of [theirs, newId('environment')])
      expect((await ask(person, [await newPlace(), place])).status).toBe(404)
    for (const list of [[], [await newPlace()].flatMap((id) => [id, id])])
      expect((await ask(person, list)).status).toBe(400)
    const outsider = await newMember(world, stranger)
    expect((await ask(outsider, [await newPlace()])).status).toBe(404)
  })

  test('is for people: a token and a machine client are refused', async () => {
    const place = await newPlace()
    for (const actor of [tenant.admin, tenant.machine, await newToken(world, tenant)])
      expect((await ask(actor, [place])).status).toBe(403)
  })

  test('ten times at once for one environment makes one request, and the fifty-first open one is refused', async () => {
    const person = await newMember(world, tenant)
    const place = await newPlace()
    const answers = await Promise.all(Array.from({ length: 10 }, () => ask(person, [place])))
    expect(answers.map(({ status }) => status).sort()).toEqual([201, ...Array(9).fill(409)])
    await world.server.context.db.rows(
      `insert into access_requests (org_id, id, user_id, status, created_at, expires_at)
       select $1, 'acr_' || lpad(n::text, 22, '0'), $2, 'open', $3::timestamptz, $3::timestamptz + interval '1 day'
         from generate_series(2, 50) n`,
      [orgId, person.id, world.clock.now().toISOString()],
    )
    expect((await ask(person, [await newPlace()])).error?.message).toContain('50 of your requests are open')
  })
})

describe('an answer', () => {
  test('is an ordinary grant: the last one closes the request, and the list counts it no more', async () => {
    const [one, two] = [await newPlace(), await newPlace()]
    const person = await newMember(world, tenant)
    const { id } = (await ask(person, [one, two])).body.request
    const before = (await list(tenant.admin)).open
    await grantKey(world, tenant, one, person)
    const half = (await show(person, id)).body.request
    expect([half.status, half.environments.map(({ granted }) => granted).sort()]).toEqual(['open', [false, true]])
    await grantKey(world, tenant, two, person)
    const { request } = (await show(person, id)).body
    expect(request).toMatchObject({ status: 'granted', closedByType: 'service_token', closedById: tenant.admin.id })
    expect((await list(tenant.admin)).open).toBe(before - 1)
    expect((await list(person, { status: 'open' })).requests).toEqual([])
    expect((await list(person, { status: 'closed' })).requests).toMatchObject([{ id }])
    expect((await trail(id))[0]).toEqual(['access_request.granted', 'service_token', { userId: person.id }])
  })

  test('by two grants at the same time closes the request once', async () => {
    for (let round = 0; round < 5; round++) {
      const places = [await newPlace(), await newPlace()]
      const person = await newMember(world, tenant)
      const { id } = (await ask(person, places)).body.request
      const grant = (envId: string) =>
        world.call(grants.create, {
          as: tenant.admin.as,
          params: { orgId, envId },
          body: { principalType: 'user', principalId: person.id, wrappedDek: wrappedKey() },
        })
      await Promise.all(places.map(grant))
      expect(await statusOf(person, id)).toBe('granted')
      expect((await trail(id)).filter(([action]) => action === 'access_request.granted')).toHaveLength(1)
    }
  })

  test('may be for some time: the request then says until when', async () => {
    const [place, other, person] = [await newPlace(), await newPlace(), await newMember(world, tenant)]
    const { id } = (await ask(person, [place, other])).body.request
    const grant = (envId: string, more: object) =>
      world.call(grants.create, {
        as: tenant.admin.as,
        params: { orgId, envId },
        body: { principalType: 'user', principalId: person.id, wrappedDek: wrappedKey(), ...more },
      })
    const { endsAt } = (await grant(place, { seconds: 3600 })).body.grant
    await grant(other, {})
    const ends = (await show(person, id)).body.request.environments.map((one) => [one.environmentId, one.endsAt])
    expect(new Map(ends as [string, string | null][])).toEqual(
      new Map([
        [place, endsAt],
        [other, null],
      ]),
    )
  })

  test('may decline with a reason, by an admin only, and once', async () => {
    const [place, person] = [await newPlace(), await newMember(world, tenant)]
    const { id } = (await ask(person, [place])).body.request
    expect((await decline(person, id)).status).toBe(403)
    const admin = await newMember(world, tenant, 'admin')
    const { request } = (await decline(admin, id, { reason: 'use staging' })).body
    expect(request).toMatchObject({ status: 'declined', answer: 'use staging', closedById: admin.id })
    expect((await decline(admin, id)).error?.code).toBe('conflict')
    expect((await withdraw(person, id)).error?.code).toBe('conflict')
    await grantKey(world, tenant, place, person)
    expect(await statusOf(person, id)).toBe('declined')
    expect((await trail(id))[0]).toEqual([
      'access_request.declined',
      'user',
      { userId: person.id, reason: 'use staging' },
    ])
  })

  test('can be made needless by the person alone, who then may ask again', async () => {
    const [place, person] = [await newPlace(), await newMember(world, tenant)]
    const { id } = (await ask(person, [place])).body.request
    expect((await withdraw(await newMember(world, tenant, 'admin'), id)).status).toBe(403)
    expect((await withdraw(person, id)).body.request.status).toBe('withdrawn')
    expect((await ask(person, [place])).status).toBe(201)
  })
})

describe('a request', () => {
  test('expires after thirty days, shows that at once, and is closed by a job with one audit entry', async () => {
    const [place, person] = [await newPlace(), await newMember(world, tenant)]
    const { id } = (await ask(person, [place])).body.request
    world.clock.advance(30 * day + 1)
    expect(await statusOf(tenant.admin, id)).toBe('expired')
    expect((await decline(tenant.admin, id)).error?.code).toBe('conflict')
    for (let round = 0; round < 2; round++) await closeRequests(world.server.context)
    expect((await trail(id))[0]).toEqual(['access_request.expired', 'system', { userId: person.id }])
    expect(await trail(id)).toHaveLength(2)
  })

  test('is closed by the job when the key came in another way, or when its environments are gone', async () => {
    const [given, deleted] = [await newPlace(), await newPlace()]
    const person = await newMember(world, tenant)
    const [one, two] = [(await ask(person, [given])).body.request.id, (await ask(person, [deleted])).body.request.id]
    const holder = { principalType: 'user', principalId: person.id }
    const now = world.clock.now().toISOString()
    await world.server.context.db.transaction((db) => {
      const giving = { db, principal: { type: 'user', id: person.id }, now, newId }
      return putGrants(giving, orgId, holder, [{ environmentId: given, wrappedDek: wrappedKey() }])
    })
    await world.call(envs.delete, { as: tenant.admin.as, params: { orgId, envId: deleted } })
    await closeRequests(world.server.context)
    expect([await statusOf(person, one), await statusOf(person, two)]).toEqual(['granted', 'expired'])
  })

  test('ends with the membership of the person', async () => {
    const [place, person] = [await newPlace(), await newMember(world, tenant)]
    const { id } = (await ask(person, [place])).body.request
    await world.call(members.remove, { as: tenant.admin.as, params: { orgId, userId: person.id } })
    expect((await show(tenant.admin, id)).status).toBe(404)
  })
})
