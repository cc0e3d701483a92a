import { apps } from '@skerry/contract/apps/endpoints'
import { me } from '@skerry/contract/me/endpoints'
import { tokens } from '@skerry/contract/tokens/endpoints'
import { describe, expect, test } from 'vitest'
import { bearerSecret, publicKeyJwk, wrappedKey } from '../../../test/blobs.ts'
import { openEnv } from '../../../test/scene.ts'
import { type Actor, newApp, newGroup, newGroupEnv, newMember, newToken, signUp } from '../../../test/tenant.ts'
import { newId, sha256 } from '../../kernel/context.ts'

const { world, tenant, envId } = await openEnv()

function made() {
  const tokenId = newId('serviceToken')
  const bearer = `${tokenId}_${bearerSecret()}`
  return { bearer, body: { name: 'ci', tokenId, tokenHash: sha256(bearer), publicKeyJwk: publicKeyJwk() } }
}
const register = (more: object = {}, by: Actor = tenant.admin, at = tenant) =>
  world.call(tokens.create, { as: by.as, params: { orgId: at.orgId }, body: { ...made().body, ...more } })
const whoAmI = (bearer: string) => world.call(me.get, { as: `Bearer ${bearer}` })
const inSeconds = (seconds: number) => new Date(world.clock.now().getTime() + seconds * 1000).toISOString()

describe('registering', () => {
  test('stores only public facts about a token, and its stored hash does not work as a token', async () => {
    const { bearer, body } = made()
    const { status, body: answer } = await register(body)
    expect(status).toBe(201)
    expect(answer.token).toEqual({
      id: body.tokenId,
      orgId: tenant.orgId,
      role: 'member',
      environmentId: null,
      name: 'ci',
      publicKeyJwk: body.publicKeyJwk,
      expiresAt: null,
      lastUsedAt: null,
      revokedAt: null,
      createdAt: answer.token.createdAt,
      createdByType: 'service_token',
      createdById: tenant.admin.id,
    })
    expect((await whoAmI(bearer)).body.principal).toEqual({ type: 'service_token', id: body.tokenId })
    expect((await whoAmI(body.tokenHash)).status).toBe(401)
    expect((await whoAmI(`${body.tokenId}_${body.tokenHash}`)).status).toBe(401)
  })

  test('accepts a token that contains its whole key, as published clients make them', async () => {
    const { body } = made()
    const classic = `${body.tokenId}_${Buffer.alloc(138, 7).toString('base64url')}_with_underscores`
    await register({ ...body, tokenHash: sha256(classic) })
    expect((await whoAmI(classic)).body.principal.id).toBe(body.tokenId)
  })

  test('makes a member unless admin is requested, and never an owner', async () => {
    expect((await register({ role: 'admin' })).body.token.role).toBe('admin')
    expect((await register({ role: 'member' })).body.token.role).toBe('member')
    const { status, error } = await register({ role: 'owner' })
    expect([status, error?.code]).toEqual([400, 'invalid_request'])
  })

  test('is allowed to admins, and not to members and member tokens', async () => {
    expect((await register({}, tenant.machine)).status).toBe(201)
    expect((await register({}, await newMember(world, tenant, 'admin'))).status).toBe(201)
    for (const actor of [await newMember(world, tenant), await newToken(world, tenant)]) {
      expect((await register({}, actor)).status).toBe(403)
      expect((await world.call(tokens.list, { as: actor.as, params: { orgId: tenant.orgId } })).status).toBe(403)
    }
  })

  test('an id or a hash that is registered in any organization is a conflict', async () => {
    const { body } = made()
    await register(body)
    const stranger = await signUp(world)
    const others = [
      { ...made().body, tokenId: body.tokenId },
      { ...made().body, tokenHash: body.tokenHash },
    ]
    for (const other of others) {
      const { status, error } = await register(other)
      expect([status, error?.code]).toEqual([409, 'conflict'])
      expect((await register(other, stranger.admin, stranger)).status).toBe(409)
    }
  })

  test('ten times at once under one id succeeds once', async () => {
    const { body } = made()
    const answers = await Promise.all(Array.from({ length: 10 }, () => register(body)))
    expect(answers.map((answer) => answer.status).sort()).toEqual([201, ...Array(9).fill(409)])
  })

  test('refuses a JWK with a private key before anything is stored', async () => {
    const jwk = { ...JSON.parse(publicKeyJwk()), d: 'cHJpdmF0ZSBhbmQgbm90IGZvciB0aGUgc2VydmVyLg' }
    const { status, error } = await register({ publicKeyJwk: JSON.stringify(jwk) })
    expect([status, error?.message]).toEqual([400, 'body.publicKeyJwk: has a member that a public key does not have'])
  })

  test.each([
    ['id', { tokenId: 'skt_short' }],
    ['id', { tokenId: `tok_${'0'.repeat(22)}` }],
    ['hash', { tokenHash: 'A'.repeat(42) }],
    ['hash', { tokenHash: `${'A'.repeat(42)}=` }],
    ['key', { publicKeyJwk: JSON.parse(publicKeyJwk()) }],
    ['name', { name: '' }],
    ['token itself', { token: 'skt_whole' }],
  ])('with a malformed %s is refused', async (_, more) => {
    expect((await register(more)).status).toBe(400)
  })
})

describe('binding', () => {
  test('is possible only to an environment of an application, in the same organization', async () => {
    expect((await register({ environmentId: envId })).body.token.environmentId).toBe(envId)
    expect((await register({ environmentId: null })).body.token.environmentId).toBeNull()
    const ofGroup = await newGroupEnv(world, tenant, (await newGroup(world, tenant)).id)
    const { status, error } = await register({ environmentId: ofGroup.id })
    expect([status, error?.code]).toEqual([400, 'invalid_request'])
    const stranger = await signUp(world)
    expect((await register({ environmentId: envId }, stranger.admin, stranger)).status).toBe(404)
    expect((await register({ environmentId: `env_${'0'.repeat(22)}` })).status).toBe(404)
  })
})

describe('expiry', () => {
  test('must be an instant that exists and is in the future', async () => {
    const expiresAt = inSeconds(60)
    expect((await register({ expiresAt })).body.token.expiresAt).toBe(expiresAt)
    const refused = [inSeconds(-1), '2001-01-01T00:00:00.000Z', '2999-02-30T00:00:00.000Z', '2999-13-01T00:00:00.000Z']
    const malformed = [
      '2999-01-01',
      '2999-01-01T24:00:00.000Z',
      '2999-01-01 00:00:00Z',
      '2999-01-01T00:00:00',
      '2999-01-01T00:00Z',
      '2999-01-01T00:00:60Z',
      '2999-01-01T00:00:00+24:00',
      '2999-02-30T00:00:00+01:00',
      '9999-12-31T23:59:59-01:00',
      'never',
      4_102_444_800_000,
    ]
    for (const instant of [...refused, ...malformed]) {
      const { status, error } = await register({ expiresAt: instant })
      expect([instant, status]).toEqual([instant, 400])
      expect(error?.message).toContain('body.expiresAt')
    }
  })

  test('is accepted in every form of RFC 3339 and answered as it was sent, by every route', async () => {
    const forms = [
      '2999-01-01T00:00:00Z',
      '2999-01-01T00:00:00.5Z',
      '2999-01-01T02:00:00+02:00',
      '2998-12-31T19:00:00.123456789-05:00',
      '2999-01-01t00:00:00z',
      '2999-01-01T00:00:00-00:00',
    ]
    for (const expiresAt of forms) {
      const { status, body } = await register({ expiresAt })
      expect([status, body.token.expiresAt]).toEqual([201, expiresAt])
      const params = { orgId: tenant.orgId, tokenId: body.token.id }
      const renamed = await world.call(tokens.update, { as: tenant.admin.as, params, body: { name: 'renamed' } })
      const list = (await world.call(tokens.list, { as: tenant.admin.as, params })).body.tokens
      expect(renamed.body.token.expiresAt).toBe(expiresAt)
      expect(list.find(({ id }) => id === body.token.id)?.expiresAt).toBe(expiresAt)
    }
  })

  test('with an offset is compared as an instant, not as text', async () => {
    const at = new Date(world.clock.now().getTime() + 60_000)
    const shifted = (hours: number) => new Date(at.getTime() + hours * 3_600_000).toISOString().slice(0, 19)
    expect((await register({ expiresAt: `${shifted(-9)}-09:00` })).status).toBe(201)
    const past = `${new Date(at.getTime() - 120_000 + 9 * 3_600_000).toISOString().slice(0, 19)}+09:00`
    expect((await register({ expiresAt: past })).error?.message).toBe('body.expiresAt: must be in the future')
    const { bearer, body } = made()
    await register({ ...body, expiresAt: `${shifted(9)}+09:00` })
    expect((await whoAmI(bearer)).status).toBe(200)
    world.clock.advance(60)
    expect((await whoAmI(bearer)).status).toBe(401)
  })

  test('ends the token at that instant, with the same answer as for an unknown token', async () => {
    const { bearer, body } = made()
    await register({ ...body, expiresAt: inSeconds(60) })
    expect((await whoAmI(bearer)).status).toBe(200)
    world.clock.advance(60)
    const { status, error } = await whoAmI(bearer)
    const unknown = await whoAmI(made().bearer)
    expect(status).toBe(401)
    expect(error).toEqual({ code: 'unauthorized', message: 'unknown service token' })
    expect(unknown.error).toEqual(error)
  })
})

describe('updating a token', () => {
  const rename = (tokenId: string, body: Record<string, unknown>, by: Actor = tenant.admin) =>
    world.call(tokens.update, { as: by.as, params: { orgId: tenant.orgId, tokenId }, body })

  test('changes only its name, and every other field is refused', async () => {
    const { token } = (await register()).body
    const { status, body } = await rename(token.id, { name: 'renamed' })
    expect([status, body.token]).toEqual([200, { ...token, name: 'renamed' }])
    for (const more of [{ role: 'admin' }, { environmentId: envId }, { expiresAt: null }, { publicKeyJwk: '{}' }])
      expect((await rename(token.id, { name: 'x', ...more })).status).toBe(400)
    expect((await rename(token.id, { name: 'x' }, await newToken(world, tenant))).status).toBe(403)
    const list = await world.call(tokens.list, { as: tenant.admin.as, params: { orgId: tenant.orgId } })
    expect(list.body.tokens.find(({ id }) => id === token.id)).toEqual(body.token)
  })
})

describe('roles', () => {
  const build = async (actor: Actor) => {
    const app = await newApp(world, tenant)
    const body = { name: 'Made', slug: 'made', wrappedDek: wrappedKey() }
    const params = { orgId: tenant.orgId, appId: app.id }
    return (await world.call(apps.createEnv, { as: actor.as, params, body })).status
  }

  test('an admin token passes admin routes, a member token does not', async () => {
    expect(await build(await newToken(world, tenant, { role: 'admin' }))).toBe(201)
    expect(await build(await newToken(world, tenant))).toBe(403)
  })

  test('a token of either role is refused on routes for people', async () => {
    for (const role of ['admin', 'member'] as const) {
      const token = await newToken(world, tenant, { role })
      expect((await world.call(me.getKeys, { as: token.as })).status).toBe(403)
    }
  })

  test('no list and no answer ever shows a hash', async () => {
    const { body } = made()
    await register(body)
    await world.call(tokens.list, { as: tenant.admin.as, params: { orgId: tenant.orgId } })
    expect(world.answers.join('\n')).not.toContain(body.tokenHash)
  })
})
