import { afterEach, describe, expect, test, vi } from 'vitest'
import published from '../vectors/published.json' with { type: 'json' }
import vectors from '../vectors/secrets.json' with { type: 'json' }
import { decodeBase64url, encodeBase64url } from './base64url.ts'
import { importDek, newDek, openSecret, sealSecret } from './secret.ts'

interface RefusedRow {
  title: string
  blob: string
  expected: string
  dek?: string
  environmentId?: string
  name?: string
}

const refused = (code: string) => expect.objectContaining({ name: 'CryptoError', code })
const dek = await importDek(decodeBase64url(vectors.dek))
const { environmentId, name } = vectors
const refusedRows: RefusedRow[] = vectors.refused

afterEach(() => void vi.restoreAllMocks())

describe('an sc1 blob', () => {
  const rows = published.layers.flatMap((layer) => layer.secrets.map((secret) => ({ ...layer, ...secret })))
  test.each(rows)('of a published client opens: $environmentId $name', async (row) => {
    const layerDek = await importDek(decodeBase64url(row.dek))
    expect(await openSecret(row.ciphertext, layerDek, row.environmentId, row.name)).toBe(row.value)
  })

  test.each(vectors.accepted)('opens to the value that was sealed: $title', async ({ blob, value }) => {
    expect(await openSecret(blob, dek, environmentId, name)).toBe(value)
  })

  test.each(refusedRows)('is refused: $title', async (row) => {
    const rowDek = row.dek === undefined ? dek : await importDek(decodeBase64url(row.dek))
    const opening = openSecret(row.blob, rowDek, row.environmentId ?? environmentId, row.name ?? name)
    await expect(opening).rejects.toThrow(refused(row.expected))
    const message = await opening.catch((error: Error) => error.message)
    for (const part of row.blob.split('.').filter((text) => text.length > 8)) expect(message).not.toContain(part)
  })

  test('with any single bit flipped does not open', async () => {
    const segments = vectors.accepted[0]!.blob.split('.')
      .slice(1)
      .map((text) => decodeBase64url(text))
    for (const [i, segment] of segments.entries()) {
      for (let bit = 0; bit < segment.length * 8; bit++) {
        const flipped = segment.slice()
        flipped[bit >> 3]! ^= 0x80 >> (bit & 7)
        const blob = ['sc1', ...segments.with(i, flipped).map(encodeBase64url)].join('.')
        await expect(openSecret(blob, dek, environmentId, name)).rejects.toThrow(refused('decryption_failed'))
      }
    }
  })

  test('with an IV of any length but 96 bits is refused before anything is decrypted', async () => {
    const decrypt = vi.spyOn(crypto.subtle, 'decrypt')
    for (const length of [1, 8, 11, 13, 16, 32]) {
      const blob = `sc1.${encodeBase64url(new Uint8Array(length))}.${encodeBase64url(new Uint8Array(40))}`
      await expect(openSecret(blob, dek, environmentId, name)).rejects.toThrow(refused('malformed_blob'))
    }
    expect(decrypt).not.toHaveBeenCalled()
  })
})

describe('sealing', () => {
  test.each([
    ['empty text', ''],
    ['whitespace', ' \t\r\n'],
    ['every kind of UTF-8 sequence', 'aé漢🌍\u0000\u007f\u0080\u07ff\u0800\uffff\u{10000}\u{10ffff}'],
    ['a byte order mark', '\ufeff'],
    ['unnormalized text', 'e\u0301 é'],
    ['1 MiB of ASCII', 'x'.repeat(1_048_576)],
    ['1 MiB of multibyte text', '🌍'.repeat(262_144)],
  ])('and opening gives back %s', async (_, value) => {
    const blob = await sealSecret(value, dek, environmentId, name)
    expect((await openSecret(blob, dek, environmentId, name)) === value).toBe(true)
  })

  test('and opening gives back 200 random texts', async () => {
    for (let i = 0; i < 200; i++) {
      const points = crypto.getRandomValues(new Uint32Array(i)).map((n) => n % 0x10f800)
      const value = Array.from(points, (n) => String.fromCodePoint(n < 0xd800 ? n : n + 0x800)).join('')
      expect(await openSecret(await sealSecret(value, dek, environmentId, name), dek, environmentId, name)).toBe(value)
    }
  })

  test('the same value twice gives two unrelated blobs', async () => {
    const [first, second] = await Promise.all([1, 2].map(() => sealSecret('value', dek, environmentId, name)))
    expect(first!.split('.')[1]).not.toBe(second!.split('.')[1])
    expect(first!.split('.')[2]).not.toBe(second!.split('.')[2])
  })

  test('a value with a lone surrogate is refused, never altered', async () => {
    await expect(sealSecret('a\ud800', dek, environmentId, name)).rejects.toThrow(refused('malformed_text'))
  })

  test.each([
    ['no environment', '', 'NAME'],
    ['an environment with a slash', 'env_a/b', 'NAME'],
    ['no name', 'env_a', ''],
  ])('for an ambiguous environment or name is refused: %s', async (_, environment, secretName) => {
    await expect(sealSecret('v', dek, environment, secretName)).rejects.toThrow(refused('invalid_argument'))
  })
})

describe('a DEK', () => {
  test('is 32 fresh bytes', () => {
    expect(newDek()).toHaveLength(32)
    expect(encodeBase64url(newDek())).not.toBe(encodeBase64url(newDek()))
  })

  test('cannot be read back once imported', async () => {
    await expect(crypto.subtle.exportKey('raw', (await importDek(newDek())).key)).rejects.toThrow()
  })

  test.each([0, 16, 31, 33])('of %i bytes is refused', async (length) => {
    await expect(importDek(new Uint8Array(length))).rejects.toThrow(refused('malformed_key'))
  })
})
