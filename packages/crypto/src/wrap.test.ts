import { describe, expect, test } from 'vitest'
import published from '../vectors/published.json' with { type: 'json' }
import vectors from '../vectors/wrapping.json' with { type: 'json' }
import { type Bytes, decodeBase64url, encodeBase64url } from './base64url.ts'
import { generateKeyPair, importPrivateKey } from './keys.ts'
import { randomBytes } from './random.ts'
import { parseToken } from './token.ts'
import { unwrapKey, wrapKey } from './wrap.ts'

const refused = (code: string) => expect.objectContaining({ name: 'CryptoError', code })
const readers = {
  first: await importPrivateKey(decodeBase64url(vectors.readers.first)),
  second: await importPrivateKey(decodeBase64url(vectors.readers.second)),
}

describe('a wd1 blob', () => {
  test.each(published.layers)('of a published client opens: $environmentId', async ({ wrappedDek, dek }) => {
    const { privateKey } = await parseToken(published.token.token)
    expect(encodeBase64url(await unwrapKey(wrappedDek, privateKey))).toBe(dek)
  })

  test.each(vectors.accepted)('opens to the bytes that were wrapped: $title', async ({ blob, bytes }) => {
    expect(encodeBase64url(await unwrapKey(blob, readers.first))).toBe(bytes)
  })

  test.each(vectors.refused)('is refused: $title', async ({ blob, reader, expected }) => {
    const opening = unwrapKey(blob, readers[reader as keyof typeof readers])
    await expect(opening).rejects.toThrow(refused(expected))
    const message = await opening.catch((error: Error) => error.message)
    for (const segment of blob
      .split('.')
      .slice(1)
      .filter((part) => part.length > 8))
      expect(message).not.toContain(segment)
  })

  test('with any single bit flipped does not open', async () => {
    const [prefix, ...texts] = vectors.accepted[0]!.blob.split('.')
    const segments = texts.map((text) => decodeBase64url(text))
    for (const [i, segment] of segments.entries()) {
      for (let bit = 0; bit < segment.length * 8; bit++) {
        const flipped: Bytes = segment.slice()
        flipped[bit >> 3]! ^= 0x80 >> (bit & 7)
        const blob = [prefix, ...segments.with(i, flipped).map(encodeBase64url)].join('.')
        await expect(unwrapKey(blob, readers.first)).rejects.toThrow(
          refused(i === 0 ? 'malformed_blob' : 'decryption_failed'),
        )
      }
    }
  })
})

describe('wrapping', () => {
  test('gives a blob of four segments that only the named reader opens', async () => {
    const mine = await generateKeyPair()
    const other = await generateKeyPair()
    for (const length of [1, 16, 32, 138, 5000]) {
      const bytes = randomBytes(length)
      const blob = await wrapKey(bytes, mine.publicKeyJwk)
      expect(blob).toMatch(/^wd1\.[A-Za-z0-9_-]{87}\.[A-Za-z0-9_-]{22}\.[A-Za-z0-9_-]{16}\.[A-Za-z0-9_-]+$/)
      expect(await unwrapKey(blob, mine.privateKey)).toEqual(bytes)
      await expect(unwrapKey(blob, other.privateKey)).rejects.toThrow(refused('decryption_failed'))
    }
  })

  test('twice gives blobs that share no segment', async () => {
    const { publicKeyJwk } = await generateKeyPair()
    const bytes = randomBytes(32)
    const first = (await wrapKey(bytes, publicKeyJwk)).split('.')
    const second = (await wrapKey(bytes, publicKeyJwk)).split('.')
    for (const i of [1, 2, 3, 4]) expect(first[i]).not.toBe(second[i])
  })

  test('refuses an empty key', async () => {
    const { publicKeyJwk } = await generateKeyPair()
    await expect(wrapKey(new Uint8Array(0), publicKeyJwk)).rejects.toThrow(refused('invalid_argument'))
  })
})

test('an object that keeps the private key elsewhere can open a blob', async () => {
  const { privateKey, publicKeyJwk } = await generateKeyPair()
  const asked: string[] = []
  const holder = {
    point: privateKey.point,
    unwrap: (blob: string) => {
      asked.push(blob)
      return unwrapKey(blob, privateKey)
    },
  }
  const blob = await wrapKey(Uint8Array.from([7]), publicKeyJwk)
  expect([await unwrapKey(blob, holder), asked]).toEqual([Uint8Array.from([7]), [blob]])
})
