import { audit } from '@skerry/contract/audit/endpoints'
import { branches } from '@skerry/contract/branches/endpoints'
import { grants } from '@skerry/contract/grants/endpoints'
import { me } from '@skerry/contract/me/endpoints'
import { passkeys } from '@skerry/contract/passkeys/endpoints'
import { tokens } from '@skerry/contract/tokens/endpoints'
import { describe, expect, test } from 'vitest'
import { newPasskeyBody, publicKeyJwk, sealedPrivateKey, wrappedKey } from '../../../test/blobs.ts'
import { openEnv } from '../../../test/scene.ts'
import {
  type Actor,
  grantKey,
  newApp,
  newEnv,
  newGroup,
  newGroupEnv,
  newMember,
  newPerson,
  newToken,
  signUp,
} from '../../../test/tenant.ts'

const { world, tenant, envId } = await openEnv()
const { orgId } = tenant

const keysOf = async ({ as }: Actor) => (await world.call(me.getKeys, { as })).body
const reseal = ({ as }: Pick<Actor, 'as'>, body: object) => world.call(me.patchKeys, { as, body: body as never })
const keys = () => ({ publicKeyJwk: publicKeyJwk(), encryptedPrivateKey: sealedPrivateKey() })
const replace = ({ as }: Pick<Actor, 'as'>, body = keys()) => world.call(me.replaceKeys, { as, body })
const canRead = async ({ as }: Actor, id = envId, inOrg = orgId) =>
  (await world.call(grants.own, { as, params: { orgId: inOrg, envId: id } })).status === 200
const trail = async (action: string, resourceId: string, { orgId, admin } = tenant) =>
  (await world.call(audit.list, { as: admin.as, params: { orgId }, query: { action, resourceId } })).body.entries

describe('changing the passphrase', () => {
  test('encrypts the same key anew: public key, grants and passkeys stay', async () => {
    const person = await newMember(world, tenant)
    await grantKey(world, tenant, envId, person)
    await world.call(passkeys.create, { as: person.as, body: newPasskeyBody() })
    const before = await keysOf(person)
    const encryptedPrivateKey = sealedPrivateKey()
    expect((await reseal(person, { encryptedPrivateKey })).status).toBe(200)
    expect(await keysOf(person)).toEqual({ ...before, encryptedPrivateKey })
    expect(await canRead(person)).toBe(true)
    expect((await world.call(passkeys.list, { as: person.as })).body.passkeys).toHaveLength(1)
    expect(await trail('user.keys_resealed', person.id)).toHaveLength(1)
  })

  test('does not overwrite a newer key pair if the request names the old one', async () => {
    const person = await newMember(world, tenant)
    const { publicKeyJwk: old } = await keysOf(person)
    const newer = keys()
    await replace(person, newer)
    const late = await reseal(person, { encryptedPrivateKey: sealedPrivateKey(), publicKeyJwk: old })
    expect([late.status, late.error?.code]).toEqual([409, 'conflict'])
    expect(await keysOf(person)).toEqual(newer)
  })

  test('needs stored keys, and a private key that is encrypted under a passphrase', async () => {
    const person = await newMember(world, tenant, 'member', { keys: false })
    expect((await reseal(person, { encryptedPrivateKey: sealedPrivateKey() })).status).toBe(409)
    expect(await keysOf(person)).toEqual({ publicKeyJwk: null, encryptedPrivateKey: null })
    const holder = await newMember(world, tenant)
    const before = await keysOf(holder)
    for (const encryptedPrivateKey of ['pkcs8', newPasskeyBody().encryptedPrivateKey, before.publicKeyJwk])
      expect((await reseal(holder, { encryptedPrivateKey })).status).toBe(400)
    expect(await keysOf(holder)).toEqual(before)
  })
})

describe('replacing the key pair', () => {
  test('shows the new key to others, and deletes everything that was wrapped to the old one', async () => {
    const person = await newMember(world, tenant)
    const other = await newMember(world, tenant)
    for (const one of [person, other]) await grantKey(world, tenant, envId, one)
    await world.call(passkeys.create, { as: person.as, body: newPasskeyBody() })
    const given = keys()
    expect((await replace(person, given)).status).toBe(200)
    expect(await keysOf(person)).toEqual(given)
    expect([await canRead(person), await canRead(other)]).toEqual([false, true])
    expect((await world.call(passkeys.list, { as: person.as })).body.passkeys).toEqual([])
    await grantKey(world, tenant, envId, person)
    expect(await canRead(person)).toBe(true)
  })

  test('deletes the key grants, and the audit log lists the environments', async () => {
    const person = await newMember(world, tenant)
    await grantKey(world, tenant, envId, person)
    const { body } = await replace(person)
    expect(body.lost.map(({ environmentId }) => environmentId)).toEqual([envId])
    const [entry] = await trail('user.keys_replaced', person.id)
    expect(entry?.metadata).toEqual({ environmentIds: [envId] })
  })

  test('deletes the key grants of every organization, and each audit log lists only its own environments', async () => {
    const email = 'in-two@example.com'
    const person = await newMember(world, tenant, 'member', { email })
    const second = await signUp(world)
    const secondEnvId = (await newEnv(world, second, (await newApp(world, second)).id)).id
    await newMember(world, second, 'member', { email, keys: false })
    await grantKey(world, tenant, envId, person)
    await grantKey(world, second, secondEnvId, person)
    const reads = async () => [await canRead(person), await canRead(person, secondEnvId, second.orgId)]
    expect(await reads()).toEqual([true, true])
    const { body } = await replace(person)
    expect(body.lost.map(({ environmentId }) => environmentId).sort()).toEqual([envId, secondEnvId].sort())
    expect(await reads()).toEqual([false, false])
    for (const [org, id] of [
      [tenant, envId],
      [second, secondEnvId],
    ] as const) {
      const entries = await trail('user.keys_replaced', person.id, org)
      expect(entries.map(({ metadata }) => metadata)).toEqual([{ environmentIds: [id] }])
    }
  })

  test('changes nothing for a person without keys, or with the same public key', async () => {
    const person = await newMember(world, tenant, 'member', { keys: false })
    expect((await replace(person)).status).toBe(409)
    const holder = await newMember(world, tenant)
    await grantKey(world, tenant, envId, holder)
    const before = await keysOf(holder)
    const same = { publicKeyJwk: before.publicKeyJwk as string, encryptedPrivateKey: sealedPrivateKey() }
    expect((await replace(holder, same)).status).toBe(409)
    const malformed = await replace(holder, { ...keys(), publicKeyJwk: '{"kty":"EC"}' })
    expect([malformed.status, malformed.error?.message]).toEqual([400, expect.stringMatching(/^body\.publicKeyJwk: /)])
    expect([await keysOf(holder), await canRead(holder)]).toEqual([before, true])
  })

  test('leaves no grant that was made at the same time', async () => {
    for (let round = 0; round < 5; round++) {
      const person = await newMember(world, tenant)
      const body = { principalType: 'user' as const, principalId: person.id, wrappedDek: wrappedKey() }
      const given = world.call(grants.create, { as: tenant.admin.as, params: { orgId, envId }, body })
      const { body: replaced } = await replace(person)
      const isAfter = (await given).status === 201 && (await canRead(person))
      // The grant either came after the replacement and stays, or came before and was deleted.
      if (isAfter) expect(replaced.lost).toEqual([])
    }
  })
})

describe('the list of keys that a replacement loses', () => {
  const holdings = async ({ as }: Actor) => (await world.call(me.keyHoldings, { as })).body.holdings

  test('is shown before it and in its answer, with environments as people write them', async () => {
    const person = await newMember(world, tenant)
    const groupId = (await newGroup(world, tenant, 'shared')).id
    const groupEnvId = (await newGroupEnv(world, tenant, groupId, 'live')).id
    const fork = { slug: 'pr-7', wrappedDek: wrappedKey() }
    const made = await world.call(branches.create, { as: tenant.admin.as, params: { orgId, envId }, body: fork })
    for (const id of [envId, groupEnvId, made.body.branch.id]) await grantKey(world, tenant, id, person)
    const before = await holdings(person)
    expect(before.map(({ label }) => label)).toEqual([
      expect.stringMatching(/^app-\d+\/production$/),
      expect.stringMatching(/^app-\d+\/production@pr-7$/),
      'shared:live',
    ])
    expect(before[0]).toMatchObject({ orgId, orgSlug: tenant.slug, environmentId: envId })
    expect((await replace(person)).body.lost).toEqual(before)
    expect(await holdings(person)).toEqual([])
  })

  test('names the admins who hold the key, in person or by a valid token, and nobody else', async () => {
    const person = await newMember(world, tenant)
    const revoked = await newToken(world, tenant, { role: 'admin' })
    const admin = await newMember(world, tenant, 'admin', { email: 'holder-1@example.com' })
    const others = [revoked, admin, await newMember(world, tenant), await newToken(world, tenant)]
    for (const one of [person, ...others]) await grantKey(world, tenant, envId, one)
    await world.call(tokens.revoke, { as: tenant.admin.as, params: { orgId, tokenId: revoked.id } })
    const [holding] = await holdings(person)
    expect(holding?.grantableBy.map(({ principalId }) => principalId)).toEqual([tenant.admin.id, admin.id])
    expect(holding?.grantableBy[1]).toEqual({
      principalType: 'user',
      principalId: admin.id,
      name: 'holder-1@example.com',
    })
  })

  test('is refused to a service token and a machine client', async () => {
    for (const { as } of [tenant.admin, tenant.machine])
      expect((await world.call(me.keyHoldings, { as })).status).toBe(403)
    expect(await holdings(await newPerson(world, 'holds-nothing@example.com'))).toEqual([])
  })
})
