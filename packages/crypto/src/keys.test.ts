import { describe, expect, test } from 'vitest'
import vectors from '../vectors/keys.json' with { type: 'json' }
import { decodeBase64url, encodeBase64url } from './base64url.ts'
import { fingerprint } from './digest.ts'
import {
  exportPrivateKey,
  formatPublicKeyJwk,
  generateKeyPair,
  importPrivateKey,
  importPrivateScalar,
  importPublicPoint,
  type PrivateKey,
  parsePublicKeyJwk,
  publicKeyJwkOf,
} from './keys.ts'
import { unwrapKey, wrapKey } from './wrap.ts'

const refused = (code: string) => expect.objectContaining({ name: 'CryptoError', code })

async function opens(privateKey: PrivateKey, publicKeyJwk: string): Promise<void> {
  const bytes = Uint8Array.from([1, 2, 3])
  expect(await unwrapKey(await wrapKey(bytes, publicKeyJwk), privateKey)).toEqual(bytes)
}

describe('a public key', () => {
  test.each(vectors.publicKeys.accepted)('in $title is read, and written in one canonical form', async (row) => {
    expect(formatPublicKeyJwk(parsePublicKeyJwk(row.publicKeyJwk))).toBe(row.canonical)
    expect(await fingerprint(row.publicKeyJwk)).toBe(row.fingerprint)
  })

  test.each(vectors.publicKeys.refused)('is refused: $title', async ({ publicKeyJwk, expected }) => {
    expect(() => parsePublicKeyJwk(publicKeyJwk)).toThrow(refused(expected))
    await expect(wrapKey(Uint8Array.from([1]), publicKeyJwk)).rejects.toThrow(refused(expected))
    await expect(fingerprint(publicKeyJwk)).rejects.toThrow(refused(expected))
  })

  test('is refused if it is an object instead of a string', () => {
    const jwk = JSON.parse(vectors.publicKeys.accepted[0]!.publicKeyJwk)
    expect(() => parsePublicKeyJwk(jwk)).toThrow(refused('malformed_key'))
  })

  test('is never written or imported from bytes that are not a point', async () => {
    for (const length of [0, 1, 33, 64, 65, 66]) {
      expect(() => formatPublicKeyJwk(new Uint8Array(length))).toThrow(refused('malformed_key'))
      await expect(importPublicPoint(new Uint8Array(length))).rejects.toThrow(refused('malformed_key'))
    }
  })
})

describe('a private key', () => {
  test.each(vectors.privateKeys.accepted)('is read with its public half: $title', async ({ pkcs8, publicKeyJwk }) => {
    const privateKey = await importPrivateKey(decodeBase64url(pkcs8))
    expect(publicKeyJwkOf(privateKey)).toBe(publicKeyJwk)
    await opens(privateKey, publicKeyJwk)
  })

  test.each(vectors.privateKeys.refused)('is refused: $title', async ({ pkcs8, expected }) => {
    await expect(importPrivateKey(decodeBase64url(pkcs8))).rejects.toThrow(refused(expected))
  })

  test('that is truncated at any byte is refused', async () => {
    const pkcs8 = decodeBase64url(vectors.privateKeys.accepted[0]!.pkcs8)
    for (let length = 0; length < pkcs8.length; length++) {
      await expect(importPrivateKey(pkcs8.slice(0, length))).rejects.toThrow(refused('malformed_key'))
    }
  })

  test('that was just made can be exported and imported again', async () => {
    const { privateKey, publicKeyJwk } = await generateKeyPair()
    const pkcs8 = await exportPrivateKey(privateKey)
    const again = await importPrivateKey(pkcs8, { extractable: true })
    expect(publicKeyJwkOf(again)).toBe(publicKeyJwk)
    expect(encodeBase64url(await exportPrivateKey(again))).toBe(encodeBase64url(pkcs8))
    await opens(again, publicKeyJwk)
  })

  test('that was imported cannot be exported by default', async () => {
    const privateKey = await importPrivateKey(decodeBase64url(vectors.privateKeys.accepted[0]!.pkcs8))
    await expect(exportPrivateKey(privateKey)).rejects.toThrow(refused('invalid_argument'))
    await expect(crypto.subtle.exportKey('jwk', privateKey.key)).rejects.toThrow()
  })

  test('that was derived from a scalar cannot be exported, and opens what was wrapped to it', async () => {
    const privateKey = await importPrivateScalar(12_345n)
    await expect(exportPrivateKey(privateKey)).rejects.toThrow(refused('invalid_argument'))
    await opens(privateKey, publicKeyJwkOf(privateKey))
  })
})
