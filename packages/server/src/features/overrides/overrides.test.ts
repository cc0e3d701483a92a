import { audit } from '@skerry/contract/audit/endpoints'
import { envs } from '@skerry/contract/envs/endpoints'
import { grants } from '@skerry/contract/grants/endpoints'
import { limits } from '@skerry/contract/limits'
import { me } from '@skerry/contract/me/endpoints'
import { members } from '@skerry/contract/members/endpoints'
import { overrides } from '@skerry/contract/overrides/endpoints'
import { describe, expect, test } from 'vitest'
import { publicKeyJwk, sealedPrivateKey } from '../../../test/blobs.ts'
import { newOverride, newOverrider, overrideOf } from '../../../test/override-steps.ts'
import { openEnv } from '../../../test/scene.ts'
import { type Actor, grantKey, newCliSession, newEnv, newMember, newToken, signUp } from '../../../test/tenant.ts'

const { world, tenant, appId, envId } = await openEnv()
const { orgId } = tenant

let places = 0
const newPlace = async () => (await newEnv(world, tenant, appId, `env-${++places}`)).id
const on = (id = envId) => ({ orgId, envId: id })
const listOf = ({ as }: Pick<Actor, 'as'>, id = envId) => world.call(overrides.list, { as, params: on(id) })
const store = async (who: Pick<Actor, 'as'>, seen: string[], id = envId, bytes?: number) => {
  const body = { ...(await overrideOf(world, who, bytes)), seen }
  return world.call(overrides.create, { as: who.as, params: on(id), body })
}
const replace = async (who: Pick<Actor, 'as'>, overrideId: string, expectedRevision: number, id = envId) => {
  const body = { ...(await overrideOf(world, who)), expectedRevision }
  return world.call(overrides.replace, { as: who.as, params: { ...on(id), overrideId }, body })
}
const remove = ({ as }: Pick<Actor, 'as'>, overrideId: string, id = envId) =>
  world.call(overrides.delete, { as, params: { ...on(id), overrideId } })
const counts = async ({ as }: Pick<Actor, 'as'>, id = envId) =>
  (await world.call(overrides.count, { as, params: on(id) })).body.counts
const trail = async (query: Record<string, string>) =>
  (await world.call(audit.list, { as: tenant.admin.as, params: { orgId }, query })).body.entries.map(
    ({ action, actorId, resourceId, metadata }) => [action, actorId, resourceId, metadata],
  )

describe('an override', () => {
  test('is stored, replaced and removed by the person, whose CLI sessions see it too', async () => {
    const place = await newPlace()
    const { person, override } = await newOverrider(world, tenant, place)
    expect(override).toMatchObject({ environmentId: place, revision: 1 })
    world.clock.advance(5)
    const replaced = await replace(person, override.id, 1, place)
    expect(replaced.body.override).toMatchObject({ id: override.id, revision: 2, createdAt: override.createdAt })
    expect(replaced.body.override.updatedAt > override.updatedAt).toBe(true)
    const cli = await newCliSession(world, person)
    expect((await listOf(cli, place)).body.overrides).toEqual([replaced.body.override])
    expect((await remove(cli, override.id, place)).body).toEqual({ ok: true })
    expect((await listOf(person, place)).body.overrides).toEqual([])
    expect((await remove(person, override.id, place)).status).toBe(404)
  })

  test('exists for nobody else: not for another reader, an admin, a token or another organization', async () => {
    const place = await newPlace()
    const { override } = await newOverrider(world, tenant, place)
    const [reader, admin] = [await newMember(world, tenant), await newMember(world, tenant, 'admin')]
    for (const one of [reader, admin]) {
      await grantKey(world, tenant, place, one)
      expect((await listOf(one, place)).body.overrides).toEqual([])
      expect([
        (await replace(one, override.id, 1, place)).status,
        (await remove(one, override.id, place)).status,
      ]).toEqual([404, 404])
    }
    const token = await newToken(world, tenant, { role: 'admin' })
    await grantKey(world, tenant, place, token)
    for (const one of [token, tenant.machine]) {
      const answers = [await listOf(one, place), await store(one, [], place), await remove(one, override.id, place)]
      expect(answers.map(({ status }) => status)).toEqual([403, 403, 403])
    }
    expect((await listOf((await signUp(world)).admin, place)).status).toBe(404)
    expect(await counts(tenant.admin, place)).toMatchObject([{ count: 1 }])
  })

  test('is reachable only in its own environment', async () => {
    const [place, other] = [await newPlace(), await newPlace()]
    const { person, override } = await newOverrider(world, tenant, place)
    await grantKey(world, tenant, other, person)
    expect((await listOf(person, other)).body.overrides).toEqual([])
    expect([
      (await replace(person, override.id, 1, other)).status,
      (await remove(person, override.id, other)).status,
    ]).toEqual([404, 404])
  })

  test('leaves an audit entry that names the environment and the person, and no secret', async () => {
    const place = await newPlace()
    const { person, override } = await newOverrider(world, tenant, place)
    await replace(person, override.id, 1, place)
    await remove(person, override.id, place)
    const entry = (action: string) => [action, person.id, place, { environmentId: place }]
    expect((await trail({ resourceId: place, actorId: person.id })).toSorted()).toEqual([
      entry('override.deleted'),
      entry('override.stored'),
      entry('override.stored'),
    ])
  })
})

describe('storing', () => {
  test('is refused if the client has not seen all overrides, because the new one may have the name of another', async () => {
    const place = await newPlace()
    const { person, override } = await newOverrider(world, tenant, place)
    for (const seen of [[], [override.id, override.id.replace(/.$/, override.id.endsWith('0') ? '1' : '0')]]) {
      const { status, error } = await store(person, seen, place)
      expect([status, error?.code]).toEqual([409, 'conflict'])
    }
    expect((await store(person, [override.id], place)).status).toBe(201)
  })

  test('from two tabs at once succeeds in one of them', async () => {
    const place = await newPlace()
    const person = await newMember(world, tenant)
    await grantKey(world, tenant, place, person)
    const created = await Promise.all([store(person, [], place), store(person, [], place)])
    expect(created.map(({ status }) => status).sort()).toEqual([201, 409])
    const id = (await listOf(person, place)).body.overrides[0]?.id as string
    const replaced = await Promise.all([replace(person, id, 1, place), replace(person, id, 1, place)])
    expect(replaced.map(({ status }) => status).sort()).toEqual([200, 409])
    expect((await listOf(person, place)).body.overrides).toMatchObject([{ id, revision: 2 }])
  })

  test('is refused beyond the limits on the number and on the size of all', async () => {
    const place = await newPlace()
    const { person, override } = await newOverrider(world, tenant, place)
    const big = Math.floor((limits.ciphertextBytes * 3) / 4) - 20
    const seen = [override.id]
    for (let round = 0; round < 3; round++) {
      const { body } = await store(person, seen, place, big)
      seen.push(body.override.id)
    }
    const tooMuch = await store(person, seen, place, big)
    expect([tooMuch.status, tooMuch.error?.code]).toEqual([403, 'quota_exceeded'])
    await world.server.context.db.rows(
      `insert into overrides (org_id, id, environment_id, user_id, wrapped_key, ciphertext, revision, created_at, updated_at)
       select org_id, 'ovr_' || lpad(n::text, 22, '0'), environment_id, user_id, wrapped_key, 'so1.AA.AA', 1, created_at, updated_at
         from overrides, generate_series(1, 96) as n where id = $1`,
      [override.id],
    )
    const all = (await listOf(person, place)).body.overrides.map(({ id }) => id)
    expect(all).toHaveLength(limits.overridesMax)
    const tooMany = await store(person, all, place)
    expect([tooMany.status, tooMany.error?.code]).toEqual([403, 'quota_exceeded'])
  })
})

describe('an override that another key pair than the present one sealed', () => {
  test('is refused, also while the key pair is being replaced, and the list stays readable', async () => {
    const place = await newPlace()
    const { person, override } = await newOverrider(world, tenant, place)
    const before = (await listOf(person, place)).body
    const sealed = newOverride(publicKeyJwk())
    const answers = [
      await world.call(overrides.create, {
        as: person.as,
        params: on(place),
        body: { ...sealed, seen: [override.id] },
      }),
      await world.call(overrides.replace, {
        as: person.as,
        params: { ...on(place), overrideId: override.id },
        body: { ...sealed, expectedRevision: 1 },
      }),
    ]
    for (const { status, error } of answers) {
      expect([status, error?.code]).toEqual([400, 'invalid_request'])
      expect(error?.message).toMatch(/^body\.wrappedKey: .*unlock your keyring again/)
    }
    expect((await listOf(person, place)).body).toEqual(before)
    // A tab with the former key pair stores at the same moment.
    const former = { ...(await overrideOf(world, person)), seen: [override.id] }
    const keys = { publicKeyJwk: publicKeyJwk(), encryptedPrivateKey: sealedPrivateKey() }
    await Promise.all([
      world.call(overrides.create, { as: person.as, params: on(place), body: former }),
      world.call(me.replaceKeys, { as: person.as, body: keys }),
    ])
    await grantKey(world, tenant, place, person)
    expect((await listOf(person, place)).body.overrides).toEqual([])
  })
})

describe('the list', () => {
  test('has a tag that changes with each change, and is not sent again to a caller who has it', async () => {
    const place = await newPlace()
    const { person, override } = await newOverrider(world, tenant, place)
    const read = async (tag?: string) => {
      const path = `/v1/orgs/${orgId}/envs/${place}/overrides`
      const headers = { authorization: person.as, ...(tag === undefined ? {} : { 'if-none-match': tag }) }
      const answer = await fetch(`${world.url}${path}`, { headers })
      return { status: answer.status, tag: answer.headers.get('etag') as string, text: await answer.text() }
    }
    const tags = new Set<string>()
    const steps = [() => replace(person, override.id, 1, place), () => store(person, [override.id], place)]
    for (const change of [...steps, () => remove(person, override.id, place)]) {
      const { tag, text } = await read()
      tags.add(tag)
      expect(JSON.parse(text).overrides.length).toBeGreaterThan(0)
      expect(await read(tag)).toEqual({ status: 304, tag, text: '' })
      await change()
      expect((await read(tag)).status).toBe(200)
    }
    expect(tags.size).toBe(3)
  })
})

describe('overrides', () => {
  test('are counted for admins, by person, and for nobody else', async () => {
    const place = await newPlace()
    const { person, override } = await newOverrider(world, tenant, place)
    await store(person, [override.id], place)
    const { person: other } = await newOverrider(world, tenant, place)
    const expected = [
      { userId: person.id, name: expect.any(String), count: 2 },
      { userId: other.id, name: expect.any(String), count: 1 },
    ]
    for (const one of [tenant.admin, await newMember(world, tenant, 'admin')])
      expect(await counts(one, place)).toEqual(expected)
    expect((await world.call(overrides.count, { as: person.as, params: on(place) })).status).toBe(403)
  })

  test('are not listed while the person lacks the key, and are there again with a new grant', async () => {
    const place = await newPlace()
    const { person, override } = await newOverrider(world, tenant, place)
    const { body } = await world.call(grants.list, { as: tenant.admin.as, params: on(place) })
    const grantId = body.grants.find(({ principalId }) => principalId === person.id)?.id as string
    await world.call(grants.delete, { as: tenant.admin.as, params: { ...on(place), grantId } })
    expect([(await listOf(person, place)).status, (await store(person, [], place)).status]).toEqual([403, 403])
    await grantKey(world, tenant, place, person)
    expect((await listOf(person, place)).body.overrides).toEqual([override])
  })

  test('end with the membership and with the environment', async () => {
    const [place, other] = [await newPlace(), await newPlace()]
    const leaving = await newOverrider(world, tenant, place)
    await newOverrider(world, tenant, other)
    await world.call(members.remove, { as: tenant.admin.as, params: { orgId, userId: leaving.person.id } })
    await world.call(envs.delete, { as: tenant.admin.as, params: on(other) })
    const { db } = world.server.context
    expect(await db.rows('select 1 from overrides where environment_id = any($1)', [[place, other]])).toEqual([])
  })

  test('are deleted with a replaced key pair, and the audit entry says how many', async () => {
    const place = await newPlace()
    const { person, override } = await newOverrider(world, tenant, place)
    await store(person, [override.id], place)
    const body = { publicKeyJwk: publicKeyJwk(), encryptedPrivateKey: sealedPrivateKey() }
    expect((await world.call(me.replaceKeys, { as: person.as, body })).status).toBe(200)
    expect(await trail({ action: 'user.keys_replaced', resourceId: person.id })).toEqual([
      ['user.keys_replaced', person.id, person.id, { environmentIds: [place], overrides: 2 }],
    ])
    await grantKey(world, tenant, place, person)
    expect((await listOf(person, place)).body.overrides).toEqual([])
  })
})
