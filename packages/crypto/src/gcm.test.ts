import { expect, test } from 'vitest'
import { importAesKey, openGcm, sealGcm } from './gcm.ts'
import { hkdf } from './hkdf.ts'

const bytes = (hex: string) => new Uint8Array(Buffer.from(hex, 'hex'))

test.each([0, 16, 24, 31, 33])('a key of %i bytes is refused', async (length) => {
  await expect(importAesKey(new Uint8Array(length))).rejects.toThrow(expect.objectContaining({ code: 'malformed_key' }))
})

test('every encryption uses a fresh 96-bit IV', async () => {
  const key = await importAesKey(new Uint8Array(32))
  const none = new Uint8Array(0)
  const sealed = await Promise.all(Array.from({ length: 200 }, () => sealGcm(key, none, none)))
  expect(new Set(sealed.map(({ iv }) => Buffer.from(iv).toString('hex'))).size).toBe(200)
  for (const { iv, ciphertext } of sealed) {
    expect(iv).toHaveLength(12)
    expect(await openGcm(key, iv, ciphertext, none)).toEqual(none)
  }
})

test('hkdf is HKDF-SHA256 (RFC 5869 appendix A.3)', async () => {
  const okm = await hkdf(bytes('0b'.repeat(22)), new Uint8Array(0), '', 42)
  expect(Buffer.from(okm).toString('hex')).toBe(
    '8da4e775a563c18f715f802a063c5a31b8a11f5c5ee1879ec3454e5f3c738d2d9d201395faa4b61a96c8',
  )
})
