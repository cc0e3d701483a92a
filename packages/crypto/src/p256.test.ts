import { describe, expect, test } from 'vitest'
import vectors from '../vectors/keys.json' with { type: 'json' }
import { decodeBase64url } from './base64url.ts'
import { bytesToNumber, isUncompressedPoint, numberTo32Bytes, p256Order, publicPointOf } from './p256.ts'

const hex = (bytes: Uint8Array) => Buffer.from(bytes).toString('hex')

async function platformKey(): Promise<{ scalar: bigint; point: Uint8Array }> {
  const pair = await crypto.subtle.generateKey({ name: 'ECDH', namedCurve: 'P-256' }, true, ['deriveBits'])
  const { d } = await crypto.subtle.exportKey('jwk', pair.privateKey)
  return {
    scalar: bytesToNumber(decodeBase64url(d!)),
    point: new Uint8Array(await crypto.subtle.exportKey('raw', pair.publicKey)),
  }
}

describe('the public point of a scalar', () => {
  test.each(vectors.scalars)('matches the vector for $scalar', ({ scalar, point }) => {
    expect(hex(publicPointOf(BigInt(`0x${scalar}`)))).toBe(point)
  })

  test('is the point that the platform computes, for 100 keys of the platform', async () => {
    for (let i = 0; i < 100; i++) {
      const { scalar, point } = await platformKey()
      expect(hex(publicPointOf(scalar))).toBe(hex(point))
    }
  })

  test('is on the curve and opposite to the point of n - scalar, for scalars around powers of two', () => {
    for (let bit = 1n; bit < 256n; bit += 5n) {
      for (const scalar of [(1n << bit) - 1n, 1n << bit, (1n << bit) + 1n]) {
        const point = publicPointOf(scalar)
        const opposite = publicPointOf(p256Order - scalar)
        expect(isUncompressedPoint(point)).toBe(true)
        expect(hex(opposite.subarray(1, 33))).toBe(hex(point.subarray(1, 33)))
        expect(hex(opposite.subarray(33))).not.toBe(hex(point.subarray(33)))
      }
    }
  })

  test.each([0n, -1n, p256Order, p256Order + 1n])('does not exist for %d', (scalar) => {
    expect(() => publicPointOf(scalar)).toThrow(expect.objectContaining({ code: 'invalid_argument' }))
  })
})

describe('a point', () => {
  test('of the platform is recognised, but not with one of its bits flipped', async () => {
    const { point } = await platformKey()
    expect(isUncompressedPoint(point)).toBe(true)
    for (let bit = 0; bit < point.length * 8; bit++) {
      const flipped = point.slice()
      flipped[bit >> 3]! ^= 0x80 >> (bit & 7)
      expect(isUncompressedPoint(flipped)).toBe(false)
    }
  })
})

test('numbers survive the conversion to 32 bytes and back', () => {
  for (const value of [0n, 1n, 255n, 256n, p256Order, (1n << 256n) - 1n]) {
    expect(bytesToNumber(numberTo32Bytes(value))).toBe(value)
  }
})
