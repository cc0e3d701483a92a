import { generateKeyPairSync } from 'node:crypto'
import { apps } from '@skerry/contract/apps/endpoints'
import { kms } from '@skerry/contract/kms/endpoints'
import { tokens } from '@skerry/contract/tokens/endpoints'
import { describe, expect, test } from 'vitest'
import { offCurveJwk, publicKeyJwk, wrappedKey } from '../../../test/blobs.ts'
import { openKms, refusal } from '../../../test/kms-scene.ts'
import { encryptKey, kmsGrant, newKmsKey, signKey } from '../../../test/kms-steps.ts'
import { newApp, newGroup, newMember, newToken, signUp } from '../../../test/tenant.ts'

const { world, tenant, appId, named, at, make, newKey, own, grant, rotate, act, holders, trail } = await openKms()
const { orgId, admin } = tenant

describe('making a key', () => {
  test('stores what the client made, and gives each grantee the key that was wrapped to them', async () => {
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

  test('with a spec that does not fit its purpose is refused', async () => {
    expect(refusal(await make(encryptKey([admin], named({ spec: 'ed25519' }))))).toEqual([
      400,
      'body.spec: is not one of a key to encrypt with',
    ])
    expect((await make(encryptKey([admin], named({ spec: 'rsa-4096' })))).status).toBe(400)
  })

  test('for an application or a group of the organization works, but not for both', async () => {
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

  test('adds a key that outlives its application', async () => {
    const app = await newApp(world, tenant)
    const { key } = (await make(encryptKey([admin], named({ applicationId: app.id })))).body
    await world.call(apps.delete, { as: admin.as, params: { orgId, appId: app.id } })
    const { body } = await world.call(kms.get, { as: admin.as, params: at(key.id) })
    expect(body.key).toMatchObject({ id: key.id, applicationId: null })
  })

  test('with the name of another key is a conflict, also for ten at once, until that key is deleted', async () => {
    const body = encryptKey([admin], named())
    const answers = await Promise.all(Array.from({ length: 10 }, () => make(body)))
    expect(answers.map(({ status }) => status).sort()).toEqual([201, ...Array(9).fill(409)])
    const first = answers.find(({ status }) => status === 201)!.body.key
    await act(kms.delete, first.id)
    expect((await make(body)).status).toBe(201)
  })

  test('for someone who cannot open it, for nobody, or for one person twice changes nothing', async () => {
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
    JSON.stringify({ ...generateKeyPairSync('ed25519').publicKey.export({ format: 'jwk' }), ...more })
  const x = (...bytes: number[]) =>
    Buffer.from([...bytes, ...Array(32).fill(bytes.at(-1))].slice(0, 32)).toString('base64url')
  const offCurve = 'body.publicKeyJwk: is not a point on the curve'
  const p384 = JSON.stringify({ ...JSON.parse(publicKeyJwk()), crv: 'P-384' })
  const withPrivate = JSON.stringify({ ...JSON.parse(publicKeyJwk()), d: 'cHJpdmF0ZSBhbmQgbm90IGZvciB0aGUgc2VydmVyLg' })
  const missing = 'body.publicKeyJwk: is required for a signing key'
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
    ['a P-256 one off the curve', signKey, { publicKeyJwk: offCurveJwk() }, offCurve],
    ['an Ed25519 one off the curve', signKey, { spec: 'ed25519', publicKeyJwk: ed25519({ x: x(7) }) }, offCurve],
    ['an Ed25519 one beyond the field', signKey, { spec: 'ed25519', publicKeyJwk: ed25519({ x: x(255) }) }, offCurve],
    [
      'an Ed25519 one with the sign of a zero',
      signKey,
      {
        spec: 'ed25519',
        publicKeyJwk: ed25519({ x: Buffer.from(`01${'00'.repeat(30)}80`, 'hex').toString('base64url') }),
      },
      offCurve,
    ],
    [
      'any, for a key that encrypts',
      encryptKey,
      { publicKeyJwk: publicKeyJwk() },
      'body.publicKeyJwk: is not for a key that encrypts',
    ],
  ] as const)('that are invalid are refused: %s', async (_, body, more, message) => {
    expect(refusal(await make(body([admin], named(more))))).toEqual([400, message])
  })

  test('of every version can be read by anyone in the organization, also of a disabled key', async () => {
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

  test('of Ed25519 are accepted for a key that signs', async () => {
    for (let count = 0; count < 20; count++) {
      const body = signKey([admin], named({ spec: 'ed25519', publicKeyJwk: ed25519() }))
      expect((await make(body)).body.key).toMatchObject({ spec: 'ed25519', purpose: 'sign' })
    }
  })
})

describe('a disabled key', () => {
  test('cannot be used, granted or rotated, but its grants can be listed and revoked', async () => {
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

  test('is recorded as disabled once, however often it is disabled', async () => {
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
