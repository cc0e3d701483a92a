import { audit } from '@skerry/contract/audit/endpoints'
import { me } from '@skerry/contract/me/endpoints'
import { orgs } from '@skerry/contract/orgs/endpoints'
import { describe, expect, test } from 'vitest'
import { publicKeyJwk, sealedPrivateKey } from '../../../test/blobs.ts'
import { openTenant } from '../../../test/scene.ts'
import { type Actor, newMember, newOwner, newPerson, newToken } from '../../../test/tenant.ts'

const { world, tenant } = await openTenant()

const keys = () => ({ publicKeyJwk: publicKeyJwk(), encryptedPrivateKey: sealedPrivateKey() })
const upload = (actor: Actor, body: Record<string, unknown>) => world.call(me.putKeys, { as: actor.as, body })
const whoAmI = async (actor: Actor) => (await world.call(me.get, { as: actor.as })).body

describe('the caller', () => {
  test('as a person gets the user, and every organization with the role there', async () => {
    const owner = await newOwner(world)
    const body = await whoAmI(owner)
    expect(body.user).toMatchObject({ id: owner.id, email: expect.stringContaining('owner-') })
    expect(body.principal).toEqual({ type: 'user', id: owner.id })
    expect(body.orgs.map(({ id, role }) => [id, role])).toEqual([[owner.orgId, 'owner']])
  })

  test('as a person in no organization gets the user, and no organization', async () => {
    const body = await whoAmI(await newPerson(world, 'alone@example.com', { keys: false }))
    expect(body.user).toMatchObject({ email: 'alone@example.com', publicKeyJwk: null })
    expect(body.orgs).toEqual([])
  })

  test.each(['admin', 'member'] as const)(
    'as a service token with the role %s gets no user, and its own organization',
    async (role) => {
      const token = await newToken(world, tenant, { role })
      const body = await whoAmI(token)
      expect(body).toMatchObject({ user: null, principal: { type: 'service_token', id: token.id } })
      expect(body.orgs.map((org) => [org.id, org.role])).toEqual([[tenant.orgId, role]])
    },
  )

  test('as a machine client gets no user, and its own organization as admin', async () => {
    const body = await whoAmI(tenant.machine)
    expect(body).toMatchObject({ user: null, principal: { type: 'm2m', id: tenant.machine.id } })
    expect(body.orgs.map((org) => [org.id, org.role])).toEqual([[tenant.orgId, 'admin']])
  })

  test('without a credential gets 401', async () => {
    expect((await world.call(me.get)).status).toBe(401)
  })
})

describe('keys', () => {
  test('are null before the upload, and afterwards what was uploaded, byte for byte', async () => {
    const person = await newPerson(world, 'keys@example.com', { keys: false })
    const read = async () => (await world.call(me.getKeys, { as: person.as })).body
    expect(await read()).toEqual({ publicKeyJwk: null, encryptedPrivateKey: null })
    const given = keys()
    expect((await upload(person, given)).status).toBe(200)
    expect(await read()).toEqual(given)
    expect((await whoAmI(person)).user?.publicKeyJwk).toBe(given.publicKeyJwk)
  })

  test('can be uploaded once: later uploads are refused and change nothing', async () => {
    const person = await newPerson(world, 'once@example.com', { keys: false })
    const first = keys()
    await upload(person, first)
    const again = await upload(person, first)
    const other = await upload(person, keys())
    expect([again.status, again.error?.code, other.status]).toEqual([409, 'conflict', 409])
    expect((await world.call(me.getKeys, { as: person.as })).body).toEqual(first)
  })

  test('uploaded ten times at once are stored once', async () => {
    const person = await newPerson(world, 'ten@example.com', { keys: false })
    const given = Array.from({ length: 10 }, keys)
    const answers = await Promise.all(given.map((body) => upload(person, body)))
    expect(answers.map((answer) => answer.status).sort()).toEqual([200, ...Array(9).fill(409)])
    const taken = given[answers.findIndex((answer) => answer.status === 200)]
    expect((await world.call(me.getKeys, { as: person.as })).body).toEqual(taken)
  })

  test('with the private member of a JWK are refused before anything is stored, and not repeated', async () => {
    const person = await newPerson(world, 'private@example.com', { keys: false })
    const d = 'cHJpdmF0ZS1rZXktdGhhdC1tdXN0LW5vdC1sZWF2ZQ'
    for (const member of ['"d"', '"\\u0064"']) {
      const jwk = publicKeyJwk().replace('{', `{${member}:"${d}",`)
      const { status, error } = await upload(person, { ...keys(), publicKeyJwk: jwk })
      expect([status, error?.message]).toEqual([400, 'body.publicKeyJwk: has a member that a public key does not have'])
    }
    const rows = await world.server.context.db.rows('select * from users')
    expect(JSON.stringify([rows, world.log, world.answers])).not.toContain(d)
    expect((await world.call(me.getKeys, { as: person.as })).body.publicKeyJwk).toBeNull()
  })

  test.each([
    ['text that is not JSON', 'nonsense'],
    ['an array', '[]'],
    ['null', 'null'],
    ['another curve', JSON.stringify({ ...JSON.parse(publicKeyJwk()), crv: 'P-384' })],
    ['another key type', JSON.stringify({ kty: 'RSA', n: 'AQAB', e: 'AQAB' })],
    ['a short coordinate', JSON.stringify({ ...JSON.parse(publicKeyJwk()), x: 'AAAA' })],
  ])('with %s for a public key are refused', async (_, jwk) => {
    const person = await newPerson(world, 'malformed@example.com', { keys: false })
    const { status, error } = await upload(person, { ...keys(), publicKeyJwk: jwk })
    expect([status, error?.code]).toEqual([400, 'invalid_request'])
    expect(error?.message).toMatch(/^body\.publicKeyJwk: /)
  })

  test('with a private key that is not encrypted under a passphrase are refused', async () => {
    const person = await newPerson(world, 'unsealed@example.com', { keys: false })
    for (const encryptedPrivateKey of ['pkcs8', sealedPrivateKey().replace('pk1.', 'pk2.'), 'pk1.a.b.c'])
      expect((await upload(person, { ...keys(), encryptedPrivateKey })).status).toBe(400)
  })

  test('are refused to a service token and a machine client', async () => {
    for (const actor of [tenant.admin, tenant.machine]) {
      const answers = [await upload(actor, keys()), await world.call(me.getKeys, { as: actor.as })]
      expect(answers.map((answer) => answer.status)).toEqual([403, 403])
    }
  })

  test('are recorded in the audit log of each organization of the person when they are uploaded', async () => {
    const person = await newMember(world, tenant, 'admin', { keys: false })
    const { body } = await world.call(orgs.create, { as: person.as, body: { name: 'Second', slug: 'second-trail' } })
    await upload(person, keys())
    for (const orgId of [tenant.orgId, body.org.id]) {
      const query = { action: 'user.keys_uploaded', resourceId: person.id }
      const list = await world.call(audit.list, { as: person.as, params: { orgId }, query })
      expect(list.body.entries).toHaveLength(1)
    }
  })
})
