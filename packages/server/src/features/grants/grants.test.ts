import { audit } from '@skerry/contract/audit/endpoints'
import { branches } from '@skerry/contract/branches/endpoints'
import { envs } from '@skerry/contract/envs/endpoints'
import { grants } from '@skerry/contract/grants/endpoints'
import { composition } from '@skerry/contract/groups/endpoints'
import { me } from '@skerry/contract/me/endpoints'
import { secrets } from '@skerry/contract/secrets/endpoints'
import { tokens } from '@skerry/contract/tokens/endpoints'
import { describe, expect, test } from 'vitest'
import { ciphertext, publicKeyJwk, sealedPrivateKey, wrappedKey } from '../../../test/blobs.ts'
import { openEnv } from '../../../test/scene.ts'
import {
  type Actor,
  grantKey,
  newApp,
  newEnv,
  newGroup,
  newGroupEnv,
  newMember,
  newToken,
  signUp,
} from '../../../test/tenant.ts'

const { world, tenant, appId, envId } = await openEnv()

const on = (id = envId) => ({ orgId: tenant.orgId, envId: id })
const typeOf = ({ id }: Actor) => (id.startsWith('usr_') ? 'user' : 'service_token')
const grant = (to: Actor, id = envId, more: object = {}, by: Actor = tenant.admin) =>
  world.call(grants.create, {
    as: by.as,
    params: on(id),
    body: { principalType: typeOf(to), principalId: to.id, wrappedDek: wrappedKey(), ...more },
  })
const own = (actor: Actor, id = envId) => world.call(grants.own, { as: actor.as, params: on(id) })
const list = async (id = envId) => (await world.call(grants.list, { as: tenant.admin.as, params: on(id) })).body.grants
const revoke = (grantId: string, by: Actor = tenant.admin, id = envId) =>
  world.call(grants.delete, { as: by.as, params: { ...on(id), grantId } })

describe('granting', () => {
  test('gives a token or a person the key as it was wrapped to them', async () => {
    for (const actor of [await newToken(world, tenant), await newMember(world, tenant)]) {
      const wrappedDek = wrappedKey()
      const { status, body } = await grant(actor, envId, { wrappedDek })
      expect(status).toBe(201)
      expect(body.grant).toMatchObject({ environmentId: envId, principalType: typeOf(actor), principalId: actor.id })
      expect((await own(actor)).body).toEqual({ wrappedDek })
      expect(await list()).toContainEqual(body.grant)
    }
  })

  test('is only for admins who hold the key, so nobody can grant a key that they invented', async () => {
    const holder = await newMember(world, tenant, 'admin')
    const [person, token] = [await newMember(world, tenant, 'admin'), await newToken(world, tenant, { role: 'admin' })]
    for (const actor of [person, token, tenant.machine])
      for (const to of [actor, await newToken(world, tenant)]) {
        const { status, error } = await grant(to, envId, {}, actor)
        expect([status, error?.code]).toEqual([403, 'forbidden'])
      }
    expect((await list()).map(({ principalId }) => principalId)).not.toContain(person.id)
    await grant(holder)
    expect((await grant(person, envId, {}, holder)).status).toBe(201)
    const member = await newMember(world, tenant)
    await grant(member)
    for (const actor of [member, await newToken(world, tenant)]) {
      expect((await grant(await newToken(world, tenant), envId, {}, actor)).status).toBe(403)
      expect((await world.call(grants.list, { as: actor.as, params: on() })).status).toBe(403)
    }
  })

  test('twice is a conflict, and keeps the first key', async () => {
    const token = await newToken(world, tenant)
    const first = (await grant(token)).body.grant
    const { status, error } = await grant(token)
    expect([status, error?.code]).toEqual([409, 'conflict'])
    expect((await own(token)).body.wrappedDek).toBe(first.wrappedDek)
  })

  test('ten times at once to one principal makes one grant', async () => {
    const token = await newToken(world, tenant)
    const answers = await Promise.all(Array.from({ length: 10 }, () => grant(token)))
    expect(answers.map((answer) => answer.status).sort()).toEqual([201, ...Array(9).fill(409)])
  })

  test('to someone of another organization, or to nobody, is refused', async () => {
    const stranger = await signUp(world)
    const strangers = [stranger.admin, await newMember(world, stranger), { as: '', id: `usr_${'0'.repeat(22)}` }]
    for (const actor of [...strangers, { as: '', id: `skt_${'0'.repeat(22)}` }]) {
      const { status, error } = await grant(actor)
      expect([status, error?.code]).toEqual([400, 'invalid_request'])
      expect(error?.message).toMatch(/^body\.principalId: /)
    }
  })

  test('to an id with a wrong type is refused', async () => {
    const [token, person] = [await newToken(world, tenant), await newMember(world, tenant)]
    expect((await grant(token, envId, { principalType: 'user' })).status).toBe(400)
    expect((await grant(person, envId, { principalType: 'service_token' })).status).toBe(400)
    expect((await grant(tenant.machine, envId, { principalType: 'm2m' })).status).toBe(400)
  })

  test('to a person is refused until they upload their keys', async () => {
    const person = await newMember(world, tenant, 'member', { keys: false })
    const { status, error } = await grant(person)
    expect([status, error?.code]).toEqual([400, 'invalid_request'])
    expect((await own(person)).status).toBe(403)
    const body = { publicKeyJwk: publicKeyJwk(), encryptedPrivateKey: sealedPrivateKey() }
    expect((await world.call(me.putKeys, { as: person.as, body })).status).toBe(200)
    const granted = await grant(person)
    expect(granted.status).toBe(201)
    expect((await own(person)).body).toEqual({ wrappedDek: granted.body.grant.wrappedDek })
  })

  test('to a revoked or expired token is refused', async () => {
    const revoked = await newToken(world, tenant)
    const params = { orgId: tenant.orgId, tokenId: revoked.id }
    await world.call(tokens.revoke, { as: tenant.admin.as, params })
    const expiresAt = new Date(world.clock.now().getTime() + 60_000).toISOString()
    const expired = await newToken(world, tenant, { expiresAt })
    world.clock.advance(61)
    for (const token of [revoked, expired]) expect((await grant(token)).status).toBe(400)
  })

  test('in an environment of another organization is not found', async () => {
    const stranger = await signUp(world)
    const answer = await world.call(grants.create, {
      as: stranger.admin.as,
      params: { orgId: stranger.orgId, envId },
      body: { principalType: 'service_token', principalId: stranger.admin.id, wrappedDek: wrappedKey() },
    })
    expect(answer.status).toBe(404)
  })
})

describe('the audit log', () => {
  test('names the environment and the principal of a grant, when it is given and when it is revoked', async () => {
    const holder = await newToken(world, tenant)
    const grant = await grantKey(world, tenant, envId, holder)
    const on = { orgId: tenant.orgId, envId, grantId: grant.id }
    await world.call(grants.delete, { as: tenant.admin.as, params: on })
    const { environment } = (await world.call(envs.get, { as: tenant.admin.as, params: on })).body
    const query = { resourceId: grant.id }
    const { entries } = (await world.call(audit.list, { as: tenant.admin.as, params: on, query })).body
    const said = { environmentId: envId, environment: environment.slug }
    const metadata = { ...said, principalType: 'service_token', principalId: holder.id }
    expect(entries).toMatchObject([
      { action: 'key.revoked', metadata },
      { action: 'key.granted', metadata },
    ])
  })
})

describe('a bound token', () => {
  test('gets keys of its environment, of branches of that, and of groups, but of no other environment', async () => {
    const token = await newToken(world, tenant, { environmentId: envId })
    const forked = await world.call(branches.create, {
      as: tenant.admin.as,
      params: on(),
      body: { slug: 'for-bound', wrappedDek: wrappedKey() },
    })
    const inGroup = await newGroupEnv(world, tenant, (await newGroup(world, tenant)).id)
    for (const id of [envId, forked.body.branch.id, inGroup.id]) expect((await grant(token, id)).status).toBe(201)
    const sibling = await newEnv(world, tenant, appId, 'sibling')
    const elsewhere = await newEnv(world, tenant, (await newApp(world, tenant)).id)
    for (const id of [sibling.id, elsewhere.id]) {
      const { status, error } = await grant(token, id)
      expect([status, error?.message]).toEqual([400, 'body.principalId: this token is bound to another environment'])
    }
  })

  test('for a branch also gets the key of the parent, whose layer it reads, but not of a sister branch', async () => {
    const fork = (slug: string) =>
      world.call(branches.create, { as: tenant.admin.as, params: on(), body: { slug, wrappedDek: wrappedKey() } })
    const [one, two] = [(await fork('sister-one')).body.branch, (await fork('sister-two')).body.branch]
    const token = await newToken(world, tenant, { environmentId: one.id })
    expect((await grant(token, one.id)).status).toBe(201)
    expect((await grant(token, envId)).status).toBe(201)
    expect((await grant(token, two.id)).status).toBe(400)
  })

  test('reads and writes a group only while that is composed into its environment, or into its branch’s parent', async () => {
    const forked = await world.call(branches.create, {
      as: tenant.admin.as,
      params: on(),
      body: { slug: 'takes-in', wrappedDek: wrappedKey() },
    })
    const group = await newGroup(world, tenant)
    const inGroup = await newGroupEnv(world, tenant, group.id, 'elsewhere')
    const compose = () =>
      world.call(composition.set, { as: tenant.admin.as, params: on(), body: { groupId: group.id } })
    const uncompose = () =>
      world.call(composition.delete, { as: tenant.admin.as, params: { ...on(), groupId: group.id } })
    for (const environmentId of [envId, forked.body.branch.id]) {
      const token = await newToken(world, tenant, { environmentId })
      await grant(token, inGroup.id)
      const answers = async () => [
        (await own(token, inGroup.id)).status,
        (await world.call(secrets.list, { as: token.as, params: on(inGroup.id) })).status,
        (
          await world.call(secrets.put, {
            as: token.as,
            params: { ...on(inGroup.id), name: 'SHARED' },
            body: { ciphertext: ciphertext() },
          })
        ).status,
        (await world.call(secrets.delete, { as: token.as, params: { ...on(inGroup.id), name: 'SHARED' } })).status,
      ]
      expect(await answers()).toEqual([403, 403, 403, 403])
      await compose()
      expect(await answers()).toEqual([200, 200, 201, 200])
      await uncompose()
      expect(await answers()).toEqual([403, 403, 403, 403])
    }
  })

  test('without a grant is accepted but reads nothing', async () => {
    const token = await newToken(world, tenant, { environmentId: envId })
    expect((await own(token)).status).toBe(403)
    expect((await world.call(secrets.list, { as: token.as, params: on() })).status).toBe(403)
  })
})

describe('the caller’s own key', () => {
  test('is answered with 403 without a grant, and with 404 for an unknown environment', async () => {
    const token = await newToken(world, tenant)
    expect((await own(token)).status).toBe(403)
    expect((await own(token, `env_${'0'.repeat(22)}`)).status).toBe(404)
    expect((await own((await signUp(world)).admin)).status).toBe(404)
  })

  test('is refused to a machine client', async () => {
    const { status, error } = await own(tenant.machine)
    expect([status, error?.code]).toEqual([403, 'forbidden'])
  })
})

describe('revoking', () => {
  test('is for admins, takes effect at once, and leaves the other grants', async () => {
    const [token, other] = [await newToken(world, tenant), await newToken(world, tenant)]
    const { id } = await grantKey(world, tenant, envId, token)
    await grantKey(world, tenant, envId, other)
    expect((await revoke(id, other)).status).toBe(403)
    expect((await revoke(id, tenant.machine)).body).toEqual({ ok: true })
    expect([(await own(token)).status, (await own(other)).status]).toEqual([403, 200])
    expect((await revoke(id)).status).toBe(404)
  })

  test('allows another grant to the same principal', async () => {
    const token = await newToken(world, tenant)
    await revoke((await grantKey(world, tenant, envId, token)).id)
    expect((await grant(token)).status).toBe(201)
  })

  test('works only in the environment of the grant', async () => {
    const token = await newToken(world, tenant)
    const other = await newEnv(world, tenant, appId, 'not-here')
    const { id } = await grantKey(world, tenant, envId, token)
    expect((await revoke(id, tenant.admin, other.id)).status).toBe(404)
    expect((await own(token)).status).toBe(200)
  })

  test('takes the key from a person as it does from a token', async () => {
    const person = await newMember(world, tenant)
    await revoke((await grantKey(world, tenant, envId, person)).id)
    expect((await own(person)).status).toBe(403)
    expect((await world.call(secrets.list, { as: person.as, params: on() })).status).toBe(403)
  })
})
