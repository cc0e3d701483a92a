import { describe, expect, test } from 'vitest'
import { type Bytes, encodeBase64url, encodeUtf8 } from './base64url.ts'
import { sha256 } from './digest.ts'
import { parsePublicKeyJwk } from './keys.ts'
import {
  importSealingKey,
  newDataKey,
  newSealingMaterial,
  openDataKey,
  openManaged,
  sealManaged,
  versionOf,
} from './kms.ts'
import { signDigest, verifyDigest } from './kms-digest.ts'
import { importSigningKey, newSigningMaterial, signMessage, verifyMessage } from './kms-sign.ts'
import { openStream, sealStream } from './kms-stream.ts'
import { randomBytes } from './random.ts'

const keyId = `kms_${'a'.repeat(22)}`
const material = newSealingMaterial()
const key = await importSealingKey(material, { keyId, version: 2 })
const failed = { code: 'decryption_failed' }

describe('a blob', () => {
  const plaintext = encodeUtf8('value')

  test('opens with its key, version and context, and with no other', async () => {
    const blob = await sealManaged(plaintext, key, 'a')
    expect(versionOf(blob, 'ce1')).toEqual({ keyId, version: 2 })
    expect(await openManaged(blob, key, 'a')).toEqual(plaintext)
    const others = [
      await importSealingKey(newSealingMaterial(), key),
      await importSealingKey(material, { keyId, version: 1 }),
      await importSealingKey(material, { keyId: `kms_${'b'.repeat(22)}`, version: 2 }),
    ]
    for (const other of others) await expect(openManaged(blob, other, 'a')).rejects.toMatchObject(failed)
    for (const context of ['', 'b', 'a/']) await expect(openManaged(blob, key, context)).rejects.toMatchObject(failed)
  })

  test('does not open as another version, even if its text names that version', async () => {
    const blob = (await sealManaged(plaintext, key)).replace('.2.', '.1.')
    const first = await importSealingKey(material, { keyId, version: 1 })
    await expect(openManaged(blob, first)).rejects.toMatchObject(failed)
  })

  test('of a published client opens: the authenticated text is <keyId>/<version>/<context>', async () => {
    const iv = randomBytes(12)
    const aes = await crypto.subtle.importKey('raw', material, 'AES-GCM', false, ['encrypt'])
    const sealed = async (aad: string) => {
      const algorithm = { name: 'AES-GCM', iv, additionalData: encodeUtf8(aad) }
      return encodeBase64url(new Uint8Array(await crypto.subtle.encrypt(algorithm, aes, plaintext)))
    }
    const parts = `${keyId}.2.${encodeBase64url(iv)}`
    expect(await openManaged(`ce1.${parts}.${await sealed(`${keyId}/2/ctx`)}`, key, 'ctx')).toEqual(plaintext)
    expect(await openManaged(`ce1.${parts}.${await sealed(`${keyId}/2/`)}`, key)).toEqual(plaintext)
    expect(await openDataKey(`dk1.${parts}.${await sealed(`${keyId}/2`)}`, key)).toEqual(plaintext)
  })

  test('of a data key does not open as a ciphertext', async () => {
    const { plaintext: bytes, wrapped } = await newDataKey(key)
    expect(await openDataKey(wrapped, key)).toEqual(bytes)
    await expect(openManaged(wrapped.replace('dk1', 'ce1'), key)).rejects.toMatchObject(failed)
  })

  test.each(['ce1', 'ce1.kms_short.1.AA.AA', `ce1.${keyId}.0.AA.AA`, `ce1.${keyId}.01.AA.AA`, `ce1.${keyId}.x.AA.AA`])(
    '%s is refused as malformed',
    (text) => {
      expect(() => versionOf(text, 'ce1')).toThrow(expect.objectContaining({ code: 'malformed_blob' }))
    },
  )
})

describe('signing', () => {
  test.each(['ecdsa-p256-sha256', 'ed25519'] as const)('with %s gives 64 bytes for one message only', async (spec) => {
    const { pkcs8, publicKeyJwk } = await newSigningMaterial(spec)
    const signing = await importSigningKey(spec, pkcs8, { keyId, version: 1 })
    expect(signing.publicKeyJwk).toBe(publicKeyJwk)
    const message = encodeUtf8('message')
    const signature = await signMessage(message, signing)
    expect(signature).toHaveLength(64)
    expect(await verifyMessage(message, signature, signing)).toBe(true)
    expect(await verifyMessage(encodeUtf8('other'), signature, signing)).toBe(false)
    const other = spec === 'ed25519' ? 'ecdsa-p256-sha256' : 'ed25519'
    await expect(importSigningKey(other, pkcs8, { keyId, version: 1 })).rejects.toMatchObject({ code: 'malformed_key' })
  })

  test('a digest gives a signature of its message, and the other way round', async () => {
    const { pkcs8, publicKeyJwk } = await newSigningMaterial('ecdsa-p256-sha256')
    const signing = await importSigningKey('ecdsa-p256-sha256', pkcs8, { keyId, version: 1 })
    const point = parsePublicKeyJwk(publicKeyJwk)
    for (let round = 0; round < 20; round++) {
      const message = randomBytes(round)
      const digest = await sha256(message)
      expect(await verifyMessage(message, await signDigest(digest, signing), signing)).toBe(true)
      expect(verifyDigest(digest, await signMessage(message, signing), point)).toBe(true)
      expect(verifyDigest(await sha256(randomBytes(8)), await signMessage(message, signing), point)).toBe(false)
    }
  })
})

describe('a stream', () => {
  async function* pieces(bytes: Bytes, size: number) {
    for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size)
  }
  const gathered = async (source: AsyncIterable<Bytes>) => {
    const all: Bytes[] = []
    for await (const piece of source) all.push(piece)
    return new Uint8Array(Buffer.concat(all))
  }
  const open = (bytes: Bytes, size = 300_000, context?: string) =>
    gathered(openStream(pieces(bytes, size), (_, wrapped) => openDataKey(wrapped, key), context))

  test('is decrypted unchanged whatever the size of its pieces, and only in its context', async () => {
    const bytes = randomBytes(2_500_000)
    const sealed = await gathered(sealStream(pieces(bytes, 77_777), key, 'a'))
    for (const size of [1000, 1_048_576, 3_000_000])
      expect(Buffer.compare(await open(sealed, size, 'a'), bytes)).toBe(0)
    await expect(open(sealed, 300_000, 'b')).rejects.toMatchObject(failed)
  })

  test('of zero bytes has one chunk, and is refused without it', async () => {
    const sealed = await gathered(sealStream(pieces(new Uint8Array(0), 1), key))
    expect(await open(sealed)).toHaveLength(0)
    await expect(open(sealed.subarray(0, sealed.indexOf(10) + 1))).rejects.toMatchObject(failed)
  })

  test.each([
    ['nothing', ''],
    ['another first line', 'skerry-kms-2 dk1.a\n'],
    ['a line without an end', 'x'.repeat(2000)],
  ])('that begins with %s is refused', async (_, start) => {
    await expect(open(encodeUtf8(start))).rejects.toMatchObject({ code: 'malformed_blob' })
  })
})
