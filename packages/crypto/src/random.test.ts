import { base62, type IdKind, idPattern, idPrefixes } from '@skerry/contract/prefixes'
import { afterEach, describe, expect, test, vi } from 'vitest'
import { newId, randomBytes } from './random.ts'

afterEach(() => void vi.restoreAllMocks())

describe('randomBytes', () => {
  test.each([0, 1, 12, 65_536, 65_537, 200_000])(
    'gives %i bytes, even beyond the quota of one platform call',
    (length) => {
      const bytes = randomBytes(length)
      expect(bytes).toHaveLength(length)
      if (length >= 12) expect(bytes.subarray(-12).some((byte) => byte !== 0)).toBe(true)
    },
  )

  test.each([-1, 1.5, Number.NaN, Number.POSITIVE_INFINITY])('refuses a length of %d', (length) => {
    expect(() => randomBytes(length)).toThrow(expect.objectContaining({ code: 'invalid_argument' }))
  })
})

describe('newId', () => {
  test.each(Object.keys(idPrefixes) as IdKind[])('gives an id of a %s its prefix and 22 base62 characters', (kind) => {
    expect(newId(kind)).toMatch(new RegExp(idPattern(kind)))
  })

  test('drops bytes from 248 on, so that no character is likelier than another', () => {
    const bytes = [...Array(256).keys()].reverse()
    let at = 0
    vi.spyOn(crypto, 'getRandomValues').mockImplementation((array) => {
      const view = array as unknown as Uint8Array
      for (let i = 0; i < view.length; i++) view[i] = bytes[at++ % bytes.length]!
      return array
    })
    // 255 down to 248 are dropped; 247 is the last character of the alphabet (247 mod 62 = 61).
    const expected = Array.from({ length: 22 }, (_, i) => base62[(247 - i) % 62]).join('')
    expect(newId('user')).toBe(`usr_${expected}`)
  })

  test('gives a thousand different ids in a thousand calls', () => {
    expect(new Set(Array.from({ length: 1000 }, () => newId('secret'))).size).toBe(1000)
  })
})
