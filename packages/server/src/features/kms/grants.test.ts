import { kms } from '@skerry/contract/kms/endpoints'
import { me } from '@skerry/contract/me/endpoints'
import { members } from '@skerry/contract/members/endpoints'
import { tokens } from '@skerry/contract/tokens/endpoints'
import { describe, expect, test } from 'vitest'
import { publicKeyJwk, sealedPrivateKey } from '../../../test/blobs.ts'
import { openKms, refusal } from '../../../test/kms-scene.ts'
import { kmsGrant } from '../../../test/kms-steps.ts'
import { type Actor, newMember, newToken, signUp } from '../../../test/tenant.ts'

const { world, tenant, envId, at, newKey, own, grant, rotate, holders, trail } = await openKms()
const { orgId, admin } = tenant

describe('versions', () => {
  test('are granted one by one: a rotation that leaves a holder out keeps their earlier versions and adds none', async () => {
    const [early, late] = [await newToken(world, tenant), await newToken(world, tenant)]
    const { id } = await newKey([admin, early])
    expect((await rotate(id, [admin])).body.key.currentVersion).toBe(2)
    expect((await rotate(id, [admin])).body.key.currentVersion).toBe(3)
    expect((await grant(late, id)).body.grant).toEqual({
      principalType: 'service_token',
      principalId: late.id,
      version: 3,
    })
    expect(await holders(id)).toEqual(expect.arrayContaining([`${admin.id} 1,2,3`, `${early.id} 1`, `${late.id} 3`]))
    const { body } = await own(early, id)
    expect([body.currentVersion, body.grants.map(({ version }) => version)]).toEqual([3, [1]])
    expect((await grant(early, id)).status).toBe(201)
    expect((await own(early, id)).body.grants.map(({ version }) => version)).toEqual([1, 3])
  })

  test('can be granted only if they are current, and only once', async () => {
    const token = await newToken(world, tenant)
    const { id } = await newKey()
    await rotate(id, [admin])
    expect(refusal(await grant(token, id, { version: 1 }))).toEqual([409, 'body.version: version 2 is the current one'])
    expect((await grant(token, id, { version: 2 })).status).toBe(201)
    const before = (await own(token, id)).body
    expect((await grant(token, id)).status).toBe(409)
    expect((await own(token, id)).body).toEqual(before)
  })

  test('made by ten rotations at once are ten', async () => {
    const { id } = await newKey()
    const answers = await Promise.all(Array.from({ length: 10 }, () => rotate(id, [admin])))
    expect(answers.map(({ body }) => body.key.currentVersion).sort((a, b) => a - b)).toEqual([
      2, 3, 4, 5, 6, 7, 8, 9, 10, 11,
    ])
    expect(await holders(id)).toEqual([`${admin.id} 1,2,3,4,5,6,7,8,9,10,11`])
  })

  test('are not added by a rotation for someone of another organization', async () => {
    const { id } = await newKey()
    expect((await rotate(id, [admin, (await signUp(world)).admin])).status).toBe(400)
    expect((await own(admin, id)).body.currentVersion).toBe(1)
  })
})

describe('a caller', () => {
  test('without a grant sees no key and gets no key material, and an admin without one sees every key', async () => {
    const [member, holder] = [await newMember(world, tenant), await newMember(world, tenant)]
    const other = await newMember(world, tenant, 'admin')
    const { id } = await newKey([holder])
    const seen = async ({ as }: Actor) =>
      (await world.call(kms.list, { as, params: { orgId } })).body.keys.map((key) => key.id)
    expect([await seen(member), await seen(holder)]).toEqual([[], [id]])
    expect(await seen(other)).toContain(id)
    for (const actor of [member, other])
      expect(refusal(await own(actor, id))).toEqual([403, 'you hold no grant of this key'])
    expect(refusal(await own(tenant.machine, id))[0]).toBe(403)
    expect((await world.call(kms.get, { as: holder.as, params: at(id) })).status).toBe(403)
  })

  test('whose grant is revoked loses every version at once', async () => {
    const token = await newToken(world, tenant)
    const { id } = await newKey([admin, token])
    await rotate(id, [admin, token])
    const query = { principalType: 'service_token' as const, principalId: token.id }
    const revoke = () => world.call(kms.revoke, { as: admin.as, params: at(id), query })
    expect((await revoke()).status).toBe(200)
    expect((await own(token, id)).status).toBe(403)
    expect((await revoke()).status).toBe(404)
    expect((await trail('kms_grant.revoked', id))[0]?.metadata).toMatchObject({ versions: [1, 2] })
  })
})

test('a bound token uses its grants, but a bound admin token is refused', async () => {
  const bound = await newToken(world, tenant, { environmentId: envId })
  const boundAdmin = await newToken(world, tenant, { environmentId: envId, role: 'admin' })
  const { id } = await newKey([bound, boundAdmin])
  expect((await own(bound, id)).status).toBe(200)
  expect((await own(boundAdmin, id)).status).toBe(403)
  expect((await world.call(kms.list, { as: boundAdmin.as, params: { orgId } })).status).toBe(403)
})

describe('a grant', () => {
  test('is deleted when its member is removed, and the audit log of each key says why', async () => {
    const person = await newMember(world, tenant)
    const [one, two] = [await newKey([admin, person]), await newKey([person])]
    await rotate(one.id, [admin, person])
    await world.call(members.remove, { as: admin.as, params: { orgId, userId: person.id } })
    expect([await holders(one.id), await holders(two.id)]).toEqual([[`${admin.id} 1,2`], []])
    const principal = { principalType: 'user', principalId: person.id, cause: 'member.removed' }
    expect((await trail('kms_grant.revoked', one.id)).map(({ metadata }) => metadata)).toEqual([
      { ...principal, versions: [1, 2] },
    ])
    expect((await trail('kms_grant.revoked', two.id)).map(({ metadata }) => metadata)).toEqual([
      { ...principal, versions: [1] },
    ])
  })

  test('is deleted when its key pair is replaced, and may be given to the new key pair', async () => {
    const person = await newMember(world, tenant)
    const { id } = await newKey([admin, person])
    await rotate(id, [admin, person])
    const body = { publicKeyJwk: publicKeyJwk(), encryptedPrivateKey: sealedPrivateKey() }
    expect((await world.call(me.replaceKeys, { as: person.as, body })).status).toBe(200)
    expect(await holders(id)).toEqual([`${admin.id} 1,2`])
    expect((await own(person, id)).status).toBe(403)
    expect((await trail('kms_grant.revoked', id)).map(({ metadata }) => metadata)).toEqual([
      { principalType: 'user', principalId: person.id, versions: [1, 2], cause: 'user.keys_replaced' },
    ])
    const again = await world.call(kms.grant, { as: admin.as, params: at(id), body: kmsGrant(person) })
    expect(again.status).toBe(201)
    expect((await own(person, id)).status).toBe(200)
  })

  test('is deleted with its token, but not when the token is only revoked', async () => {
    const token = await newToken(world, tenant)
    const { id } = await newKey([admin, token])
    const params = { orgId, tokenId: token.id }
    expect((await world.call(tokens.delete, { as: admin.as, params })).status).toBe(409)
    expect(await trail('kms_grant.revoked', id)).toEqual([])
    await world.call(tokens.revoke, { as: admin.as, params })
    expect(await holders(id)).toHaveLength(2)
    await world.call(tokens.delete, { as: admin.as, params })
    expect(await holders(id)).toEqual([`${admin.id} 1`])
    expect((await trail('kms_grant.revoked', id))[0]?.metadata).toMatchObject({ cause: 'token.deleted' })
  })
})
