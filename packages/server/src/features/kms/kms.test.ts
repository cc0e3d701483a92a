import { apps } from '@skerry/contract/apps'
import { audit } from '@skerry/contract/audit'
import { kms } from '@skerry/contract/kms'
import { me } from '@skerry/contract/me'
import { members } from '@skerry/contract/orgs'
import { tokens } from '@skerry/contract/tokens'
import { describe, expect, test } from 'vitest'
import { publicKeyJwk, sealedPrivateKey, wrappedKey } from '../../../test/blobs.ts'
import { encryptKey, kmsGrant, newKmsKey, signKey } from '../../../test/kms-steps.ts'
import { openEnv } from '../../../test/scene.ts'
import { type Actor, newApp, newGroup, newMember, newToken, signUp } from '../../../test/tenant.ts'

const { world, tenant, appId, envId } = await openEnv()
const { orgId, admin } = tenant

let count = 0
const named = (more: object = {}) => ({ name: `key-${++count}`, ...more })
const at = (kmsKeyId: string) => ({ orgId, kmsKeyId })
const make = (body: Record<string, unknown>, by: Actor = admin) =>
  world.call(kms.create, { as: by.as, params: { orgId }, body })
const newKey = (grantees: Actor[] = [admin]) => newKmsKey(world, tenant, encryptKey(grantees, named()))
const own = ({ as }: Actor, id: string) => world.call(kms.own, { as, params: at(id) })
const grant = (to: Actor, id: string, more: object = {}) =>
  world.call(kms.grant, { as: admin.as, params: at(id), body: kmsGrant(to, more) })
const rotate = (id: string, grantees: Actor[], more: object = {}) =>
  world.call(kms.rotate, {
    as: admin.as,
    params: at(id),
    body: { grants: grantees.map((one) => kmsGrant(one)), ...more },
  })
const act = <E extends typeof kms.disable | typeof kms.enable | typeof kms.delete>(endpoint: E, id: string) =>
  world.call(endpoint, { as: admin.as, params: at(id) } as never)
const holders = async (id: string) =>
  (await world.call(kms.grants, { as: admin.as, params: at(id) })).body.grants.map(
    ({ principalId, versions }) => `${principalId} ${versions}`,
  )
const trail = async (action: string, resourceId: string) =>
  (await world.call(audit.list, { as: admin.as, params: { orgId }, query: { action, resourceId } })).body.entries
const refusal = ({ status, error }: { status: number; error?: { message: string } | undefined }) => [
  status,
  error?.message,
]

describe('making a key', () => {
  test('stores what the client made, and gives each grantee what was wrapped to them', async () => {
    const person = await newMember(world, tenant)
    const wrapped = wrappedKey()
    const body = encryptKey([admin], named())
    const { status, body: answer } = await make({
      ...body,
      grants: [...body.grants, kmsGrant(person, { wrappedKey: wrapped })],
    })
    expect(status).toBe(201)
    expect(answer.key).toMatchObject({ purpose: 'encrypt', currentVersion: 1, disabled: false, applicationId: null })
    expect((await own(person, answer.key.id)).body).toEqual({
      purpose: 'encrypt',
      spec: 'aes-256-gcm',
      currentVersion: 1,
      grants: [{ version: 1, wrappedKey: wrapped }],
    })
    const shown = await world.call(kms.get, { as: admin.as, params: at(answer.key.id) })
    expect(shown.body).toEqual({
      key: answer.key,
      versions: [{ version: 1, publicKeyJwk: null, createdAt: answer.key.createdAt }],
    })
  })

  test('of a purpose and a spec that do not go together is refused', async () => {
    expect(refusal(await make(encryptKey([admin], named({ spec: 'ed25519' }))))).toEqual([
      400,
      'body.spec: is not one of a key to encrypt with',
    ])
    expect((await make(encryptKey([admin], named({ spec: 'rsa-4096' })))).status).toBe(400)
  })

  test('belongs to an application or a group of the organization, never to both', async () => {
    const groupId = (await newGroup(world, tenant)).id
    expect((await make(encryptKey([admin], named({ applicationId: appId })))).body.key.applicationId).toBe(appId)
    expect((await make(encryptKey([admin], named({ groupId })))).body.key.groupId).toBe(groupId)
    expect(refusal(await make(encryptKey([admin], named({ applicationId: appId, groupId }))))).toEqual([
      400,
      'body.groupId: a key belongs to an application or to a group, not to both',
    ])
    const elsewhere = await newApp(world, await signUp(world))
    const answers = [
      await make(encryptKey([admin], named({ applicationId: elsewhere.id }))),
      await make(encryptKey([admin], named({ groupId: `grp_${'0'.repeat(22)}` }))),
    ]
    expect(answers.map(({ status }) => status)).toEqual([404, 404])
  })

  test('outlives the application that it belonged to', async () => {
    const app = await newApp(world, tenant)
    const { key } = (await make(encryptKey([admin], named({ applicationId: app.id })))).body
    await world.call(apps.delete, { as: admin.as, params: { orgId, appId: app.id } })
    const { body } = await world.call(kms.get, { as: admin.as, params: at(key.id) })
    expect(body.key).toMatchObject({ id: key.id, applicationId: null })
  })

  test('under a name that another has is a conflict, for ten at once too, until that one is deleted', async () => {
    const body = encryptKey([admin], named())
    const answers = await Promise.all(Array.from({ length: 10 }, () => make(body)))
    expect(answers.map(({ status }) => status).sort()).toEqual([201, ...Array(9).fill(409)])
    const first = answers.find(({ status }) => status === 201)!.body.key
    await act(kms.delete, first.id)
    expect((await make(body)).status).toBe(201)
  })

  test('for someone of another organization, for nobody, or for one twice changes nothing', async () => {
    const stranger = await signUp(world)
    const keyless = await newMember(world, tenant, 'member', { keys: false })
    const revoked = await newToken(world, tenant)
    await world.call(tokens.revoke, { as: admin.as, params: { orgId, tokenId: revoked.id } })
    const nobody = { as: '', id: `usr_${'0'.repeat(22)}` }
    for (const other of [stranger.admin, keyless, revoked, nobody]) {
      const body = encryptKey([admin, other], named())
      const [status, message] = refusal(await make(body))
      expect([status, message]).toEqual([400, expect.stringMatching(/^body\.grants\[1\]\.principalId: not a member/)])
      expect((await make({ ...body, grants: [kmsGrant(admin)] })).status).toBe(201)
    }
    expect(refusal(await make(encryptKey([admin, admin], named())))).toEqual([
      400,
      'body.grants[1].principalId: named twice',
    ])
    expect((await make(encryptKey([], named()))).status).toBe(400)
  })
})

describe('public keys', () => {
  const ed25519 = (more: object = {}) =>
    JSON.stringify({ kty: 'OKP', crv: 'Ed25519', x: Buffer.alloc(32, 7).toString('base64url'), ...more })
  const p384 = JSON.stringify({ ...JSON.parse(publicKeyJwk()), crv: 'P-384' })
  const withPrivate = JSON.stringify({ ...JSON.parse(publicKeyJwk()), d: 'cHJpdmF0ZSBhbmQgbm90IGZvciB0aGUgc2VydmVyLg' })
  const missing = 'body.publicKeyJwk: a key that signs has one'
  const extra = 'body.publicKeyJwk: has a member that a public key does not have'

  test.each([
    ['none', signKey, { publicKeyJwk: undefined }, missing],
    ['one of another curve', signKey, { publicKeyJwk: p384 }, 'body.publicKeyJwk: is not an EC P-256 key'],
    ['a private one', signKey, { publicKeyJwk: withPrivate }, extra],
    ['a P-256 one for Ed25519', signKey, { spec: 'ed25519' }, 'body.publicKeyJwk: is not an OKP Ed25519 key'],
    ['a private Ed25519 one', signKey, { spec: 'ed25519', publicKeyJwk: ed25519({ d: 'AAAA' }) }, extra],
    [
      'a short Ed25519 one',
      signKey,
      { spec: 'ed25519', publicKeyJwk: ed25519({ x: 'AAAA' }) },
      'body.publicKeyJwk: has no x of 32 bytes',
    ],
    [
      'any, of a key that encrypts',
      encryptKey,
      { publicKeyJwk: publicKeyJwk() },
      'body.publicKeyJwk: is not for a key that encrypts',
    ],
  ] as const)('%s: refused', async (_, body, more, message) => {
    expect(refusal(await make(body([admin], named(more))))).toEqual([400, message])
  })

  test('of every version are read by anyone in the organization, of a disabled key too', async () => {
    const first = publicKeyJwk()
    const key = await newKmsKey(world, tenant, signKey([admin], named({ publicKeyJwk: first })))
    expect(refusal(await rotate(key.id, [admin]))).toEqual([400, missing])
    const second = publicKeyJwk()
    expect((await rotate(key.id, [admin], { publicKeyJwk: second })).status).toBe(200)
    await act(kms.disable, key.id)
    const reader = await newToken(world, tenant)
    for (const { as } of [reader, tenant.machine]) {
      const { body } = await world.call(kms.public, { as, params: at(key.id) })
      expect(body).toEqual({
        purpose: 'sign',
        spec: 'ecdsa-p256-sha256',
        currentVersion: 2,
        keys: [
          { version: 1, publicKeyJwk: first },
          { version: 2, publicKeyJwk: second },
        ],
      })
    }
    const stranger = await signUp(world)
    expect((await world.call(kms.public, { as: stranger.admin.as, params: at(key.id) })).status).toBe(404)
    const encrypts = await newKey()
    expect((await world.call(kms.public, { as: reader.as, params: at(encrypts.id) })).status).toBe(400)
  })

  test('an Ed25519 key signs', async () => {
    const body = signKey([admin], named({ spec: 'ed25519', publicKeyJwk: ed25519() }))
    expect((await make(body)).body.key).toMatchObject({ spec: 'ed25519', purpose: 'sign' })
  })
})

describe('versions', () => {
  test('are held one by one: who was not wrapped to keeps the earlier ones, and gets no newer by that', async () => {
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

  test('a grant of what is no longer the current one is a conflict, and so is a second one', async () => {
    const token = await newToken(world, tenant)
    const { id } = await newKey()
    await rotate(id, [admin])
    expect(refusal(await grant(token, id, { version: 1 }))).toEqual([409, 'body.version: version 2 is the current one'])
    expect((await grant(token, id, { version: 2 })).status).toBe(201)
    const before = (await own(token, id)).body
    expect((await grant(token, id)).status).toBe(409)
    expect((await own(token, id)).body).toEqual(before)
  })

  test('of ten rotations at once are ten', async () => {
    const { id } = await newKey()
    const answers = await Promise.all(Array.from({ length: 10 }, () => rotate(id, [admin])))
    expect(answers.map(({ body }) => body.key.currentVersion).sort((a, b) => a - b)).toEqual([
      2, 3, 4, 5, 6, 7, 8, 9, 10, 11,
    ])
    expect(await holders(id)).toEqual([`${admin.id} 1,2,3,4,5,6,7,8,9,10,11`])
  })

  test('a rotation for someone who may not have it adds none', async () => {
    const { id } = await newKey()
    expect((await rotate(id, [admin, (await signUp(world)).admin])).status).toBe(400)
    expect((await own(admin, id)).body.currentVersion).toBe(1)
  })
})

describe('a disabled key', () => {
  test('is not used, granted or rotated; who holds it stays known, and may lose it', async () => {
    const token = await newToken(world, tenant)
    const { id } = await newKey([admin, token])
    expect((await act(kms.disable, id)).body.key.disabled).toBe(true)
    expect(refusal(await own(admin, id))).toEqual([403, 'this key is disabled'])
    expect((await grant(await newToken(world, tenant), id)).status).toBe(409)
    expect((await rotate(id, [admin])).status).toBe(409)
    expect(await holders(id)).toHaveLength(2)
    const query = { principalType: 'service_token' as const, principalId: token.id }
    expect((await world.call(kms.revoke, { as: admin.as, params: at(id), query })).status).toBe(200)
    expect((await act(kms.enable, id)).body.key.disabled).toBe(false)
    expect((await own(admin, id)).status).toBe(200)
    expect((await own(token, id)).status).toBe(403)
  })

  test('is disabled once, however often it is asked for', async () => {
    const { id } = await newKey()
    const answers = await Promise.all(Array.from({ length: 5 }, () => act(kms.disable, id)))
    expect(answers.map(({ status }) => status)).toEqual(Array(5).fill(200))
    await act(kms.enable, id)
    expect((await act(kms.enable, id)).status).toBe(200)
    expect(await trail('kms_key.disabled', id)).toHaveLength(1)
    expect(await trail('kms_key.enabled', id)).toHaveLength(1)
  })
})

test('a deleted key is in no list and found on no route', async () => {
  const { id } = await newKey()
  expect((await act(kms.delete, id)).body).toEqual({ ok: true })
  const { body } = await world.call(kms.list, { as: admin.as, params: { orgId } })
  expect(body.keys.map((key) => key.id)).not.toContain(id)
  const query = { principalType: 'service_token' as const, principalId: admin.id }
  const answers = [
    await own(admin, id),
    await grant(await newToken(world, tenant), id),
    await rotate(id, [admin]),
    await act(kms.disable, id),
    await act(kms.delete, id),
    await world.call(kms.get, { as: admin.as, params: at(id) }),
    await world.call(kms.grants, { as: admin.as, params: at(id) }),
    await world.call(kms.public, { as: admin.as, params: at(id) }),
    await world.call(kms.revoke, { as: admin.as, params: at(id), query }),
  ]
  expect(answers.map(({ status }) => status)).toEqual(Array(9).fill(404))
})

describe('who holds no grant', () => {
  test('sees no key in the list, and is refused its material; an admin sees all, and is refused it too', async () => {
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

  test('loses every version at once', async () => {
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

test('a bound token uses what it was granted; one that is an admin is refused', async () => {
  const bound = await newToken(world, tenant, { environmentId: envId })
  const boundAdmin = await newToken(world, tenant, { environmentId: envId, role: 'admin' })
  const { id } = await newKey([bound, boundAdmin])
  expect((await own(bound, id)).status).toBe(200)
  expect((await own(boundAdmin, id)).status).toBe(403)
  expect((await world.call(kms.list, { as: boundAdmin.as, params: { orgId } })).status).toBe(403)
})

describe('what a principal held', () => {
  test('is gone with a removed member; each key’s trail says so, and why', async () => {
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

  test('is gone with a keypair that is replaced, and may be granted again to the new one', async () => {
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

  test('is gone with a token that is deleted for good, and not with one that is merely revoked', async () => {
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
