import { encodeUtf8 } from '@skerry/crypto/base64url'
import { generateKeyPair, parsePublicKeyJwk } from '@skerry/crypto/keys'
import { importDek, newDek, openSecret, sealSecret } from '@skerry/crypto/secret'
import { unwrapKey, wrapKey } from '@skerry/crypto/wrap'
import { afterAll, describe, expect, test } from 'vitest'
import { tableDump } from '../../test/state.ts'
import { signUp } from '../../test/tenant.ts'
import { openWorld } from '../../test/world.ts'
import { brokerOf, openKeypairs, rotatorOf, syncOf, wrapTo } from './keypairs.ts'
import type { KeyOwner } from './keypairs-store.ts'
import { serverKeyOf } from './server-key.ts'

const world = await openWorld()
afterAll(() => world.close())
const { db, keypairs } = world.server.context
const { orgId } = await signUp(world)
const other = (await signUp(world)).orgId

const text = (bytes: Uint8Array | undefined) => bytes && Buffer.from(bytes).toString()
const wrapped = async (owner: KeyOwner, plain: string) =>
  wrapKey(encodeUtf8(plain), await keypairs.publicKey(db, owner))

describe('a key pair of the server', () => {
  test('exists once for each purpose and owner, never changes, and has a valid public key', async () => {
    const owners = [brokerOf(orgId), rotatorOf(orgId), syncOf(orgId, 'syn_1'), syncOf(orgId, 'syn_2'), brokerOf(other)]
    const keys = await Promise.all(owners.map((owner) => keypairs.publicKey(db, owner)))
    expect(new Set(keys).size).toBe(owners.length)
    for (const key of keys) expect(parsePublicKeyJwk(key)).toHaveLength(65)
    expect(await Promise.all(owners.map((owner) => keypairs.publicKey(db, owner)))).toEqual(keys)
  })

  test('is created once, even if many transactions request it at the same time', async () => {
    const owner = syncOf(orgId, 'syn_race')
    const ask = (index: number) =>
      index % 2 ? keypairs.publicKey(db, owner) : db.transaction((tx) => keypairs.publicKey(tx, owner))
    const keys = await Promise.all(Array.from({ length: 20 }, (_, index) => ask(index)))
    expect(new Set(keys).size).toBe(1)
    expect(text(await keypairs.openWrapped(db, owner, await wrapKey(encodeUtf8('x'), keys[7] as string)))).toBe('x')
  })

  test('is not created if its transaction fails', async () => {
    const owner = syncOf(orgId, 'syn_failed')
    const failed = db.transaction(async (tx) => {
      await keypairs.publicKey(tx, owner)
      throw new Error('no')
    })
    await expect(failed).rejects.toThrow('no')
    expect(await keypairs.openWrapped(db, owner, await wrapped(brokerOf(orgId), 'x'))).toBeUndefined()
  })

  test('unwraps data that was wrapped to it, and nothing else', async () => {
    const owner = brokerOf(orgId)
    const blob = await wrapped(owner, 'postgres://admin:secret@db')
    expect(text(await keypairs.openWrapped(db, owner, blob))).toBe('postgres://admin:secret@db')
    for (const another of [rotatorOf(orgId), brokerOf(other), syncOf(orgId, 'syn_1'), syncOf(orgId, 'syn_none')])
      expect(await keypairs.openWrapped(db, another, blob)).toBeUndefined()
    const last = blob.at(-2) === 'A' ? 'B' : 'A'
    for (const bad of [
      '',
      'wd1.',
      'sc1.a.b',
      blob.slice(0, -8),
      `${blob.slice(0, -2)}${last}${blob.at(-1)}`,
      `${blob}.x`,
    ])
      expect(await keypairs.openWrapped(db, owner, bad)).toBeUndefined()
  })

  test('decrypts and encrypts secrets of the environment of a grant, and no others', async () => {
    const [owner, bytes] = [rotatorOf(orgId), newDek()]
    const dek = await importDek(bytes)
    const grant = { environmentId: 'env_1', wrappedDek: await wrapKey(bytes, await keypairs.publicKey(db, owner)) }
    const key = await keypairs.openEnvironment(db, owner, grant)
    expect(await key?.open('NAME', await sealSecret('value', dek, 'env_1', 'NAME'))).toBe('value')
    expect(await openSecret((await key?.seal('NAME', 'new')) as string, dek, 'env_1', 'NAME')).toBe('new')
    for (const [env, name] of [
      ['env_1', 'OTHER'],
      ['env_2', 'NAME'],
    ] as const)
      await expect(key?.open('NAME', await sealSecret('value', dek, env, name))).rejects.toThrow(
        'the ciphertext was moved or changed',
      )
  })

  test('refuses a wrapped text that is not the key of an environment', async () => {
    const owner = rotatorOf(orgId)
    for (const wrappedDek of [await wrapped(owner, 'too short'), await wrapped(brokerOf(orgId), 'x'.repeat(32))])
      expect(await keypairs.openEnvironment(db, owner, { environmentId: 'env_1', wrappedDek })).toBeUndefined()
  })

  test('stores its private half encrypted, bound to its owner and purpose', async () => {
    const rows = await db.rows<{ ownerId: string; sealedPrivateKey: string }>(
      `select owner_id, sealed_private_key from server_keypairs where purpose = 'sync' order by owner_id limit 2`,
    )
    const [one, two] = rows as [(typeof rows)[0], (typeof rows)[0]]
    const serverKey = world.server.context.serverKey
    const pkcs8 = serverKey?.open('keypair', `${orgId} sync ${one.ownerId}`, one.sealedPrivateKey) as string
    for (const about of [
      `${orgId} sync ${two.ownerId}`,
      `${other} sync ${one.ownerId}`,
      `${orgId} rotator ${one.ownerId}`,
    ])
      expect(serverKey?.open('keypair', about, one.sealedPrivateKey)).toBeUndefined()
    for (const { where, text: dumped } of await tableDump(world))
      expect([where, dumped.includes(pkcs8)]).toEqual([where, false])
  })

  test('cannot unwrap older data once it was deleted and created again', async () => {
    const owner = syncOf(orgId, 'syn_1')
    const [before, blob] = [await keypairs.publicKey(db, owner), await wrapped(owner, 'x')]
    await keypairs.destroy(db, owner)
    expect(await keypairs.publicKey(db, owner)).not.toBe(before)
    expect(await keypairs.openWrapped(db, owner, blob)).toBeUndefined()
  })
})

test('without a server key every call is refused with the reason and creates no key pair', async () => {
  const without = openKeypairs(null, world.clock.now)
  const owner = syncOf(orgId, 'syn_keyless')
  const conflict = { code: 'conflict', message: 'this server has no server key' }
  await expect(without.publicKey(db, owner)).rejects.toMatchObject(conflict)
  await expect(without.openWrapped(db, brokerOf(orgId), await wrapped(brokerOf(orgId), 'x'))).rejects.toMatchObject(
    conflict,
  )
  await expect(without.openEnvironment(db, owner, { environmentId: 'env_1', wrappedDek: '' })).rejects.toMatchObject(
    conflict,
  )
  expect(await db.rows(`select 1 from server_keypairs where owner_id = 'syn_keyless'`)).toEqual([])
})

test('a key pair sealed with another server key causes an internal error, not a refusal', async () => {
  const strange = openKeypairs(serverKeyOf(Buffer.alloc(32, 3).toString('base64url')), world.clock.now)
  const opened = strange.openWrapped(db, brokerOf(orgId), await wrapped(brokerOf(orgId), 'x'))
  await expect(opened).rejects.toThrow('the server key does not open a key pair')
  await expect(opened).rejects.not.toHaveProperty('code')
})

test('wrapTo wraps data of the server to the public key of the caller', async () => {
  const { privateKey, publicKeyJwk } = await generateKeyPair()
  expect(text(await unwrapKey(await wrapTo(publicKeyJwk, Buffer.from('temporary')), privateKey))).toBe('temporary')
})
