import type { Bytes } from './base64url.ts'
import { CryptoError } from './errors.ts'

/**
 * The little P-256 arithmetic that WebCrypto lacks: the public point of a private scalar, and "is this point on the
 * curve". WebCrypto does everything else (key agreement, key generation).
 *
 * Why not WebCrypto: it has no operation that turns a scalar into a point. A PKCS8 without the optional public part
 * (RFC 5915) would work in Node and Chromium. But WebKit refuses to import it, and Firefox imports it and then cannot
 * export its public point. A JWK needs x and y from the start.
 *
 * Timing: the duration of BigInt operations depends on their operands, so these functions are not constant-time. The
 * ladder below at least runs the same sequence of operations for every scalar. It runs once per process, when a token
 * is parsed, on the machine that has the token. Nobody can repeat it on a scalar of interest with chosen inputs. Anyone
 * who can measure it that closely on that machine can read the token itself.
 */

const p = 0xffffffff00000001000000000000000000000000ffffffffffffffffffffffffn
const b = 0x5ac635d8aa3a93e7b3ebbd55769886bc651d06b0cc53b0f63bce3c3e27d2604bn
const a = p - 3n

/** The order of the base point: the number of points (SP 800-186 section 3.2.1.3). */
export const p256Order = 0xffffffff00000000ffffffffffffffffbce6faada7179e84f3b9cac2fc632551n

/** x = X/Z, y = Y/Z; (0, 1, 0) is the point at infinity. */
interface Projective {
  X: bigint
  Y: bigint
  Z: bigint
}

const infinity: Projective = { X: 0n, Y: 1n, Z: 0n }
const base: Projective = {
  X: 0x6b17d1f2e12c4247f8bce6e563a440f277037d812deb33a0f4a13945d898c296n,
  Y: 0x4fe342e2fe1a7f9b8ee7eb4a7c0f9e162bce33576b315ececbb6406837bf51f5n,
  Z: 1n,
}

/** Reduces modulo p. BigInt's `%` keeps the sign of its left operand; this function does not. */
function mod(value: bigint): bigint {
  const rest = value % p
  return rest < 0n ? rest + p : rest
}

/**
 * Complete addition (Renes, Costello, Batina 2015, section 3, on a curve of odd order). It is correct for every pair of
 * points, including equal, opposite and infinite ones. So doubling is `add(q, q)`, and no special case can go wrong.
 */
function add(q: Projective, r: Projective): Projective {
  const xx = mod(q.X * r.X)
  const yy = mod(q.Y * r.Y)
  const zz = mod(q.Z * r.Z)
  const xy = mod(q.X * r.Y + r.X * q.Y)
  const xz = mod(q.X * r.Z + r.X * q.Z)
  const yz = mod(q.Y * r.Z + r.Y * q.Z)
  const tail = mod(a * xz + 3n * b * zz)
  const left = mod(3n * xx + a * zz)
  const right = mod(a * xx + 3n * b * xz - a * a * zz)
  return {
    X: mod(xy * (yy - tail) - yz * right),
    Y: mod((yy + tail) * (yy - tail) + left * right),
    Z: mod(yz * (yy + tail) + xy * left),
  }
}

/** Inverts modulo p. Fermat: z^(p-2) is 1/z. */
function invert(value: bigint): bigint {
  let result = 1n
  for (let bit = 255n; bit >= 0n; bit--) {
    result = mod(result * result)
    if (((p - 2n) >> bit) & 1n) result = mod(result * value)
  }
  return result
}

/**
 * Reads unsigned big-endian bytes as a number.
 *
 * @example bytesToNumber(new Uint8Array([1, 0])) // 256n
 */
export function bytesToNumber(bytes: Uint8Array): bigint {
  let value = 0n
  for (const byte of bytes) value = (value << 8n) | BigInt(byte)
  return value
}

/**
 * Writes a number below 2^256 as 32 big-endian bytes, the size of every P-256 field element and scalar.
 *
 * @example numberTo32Bytes(256n) // 30 zeros, 1, 0
 */
export function numberTo32Bytes(value: bigint): Bytes {
  const out = new Uint8Array(32)
  for (let i = 31, rest = value; i >= 0; i--, rest >>= 8n) out[i] = Number(rest & 255n)
  return out
}

/**
 * Computes the public point of a private scalar: scalar times base point, SEC1 uncompressed (0x04, x, y: 65 bytes).
 *
 * @throws CryptoError `invalid_argument` unless 0 < scalar < {@link p256Order}.
 * @example publicPointOf(1n) // the base point
 */
export function publicPointOf(scalar: bigint): Bytes {
  if (scalar <= 0n || scalar >= p256Order) throw new CryptoError('invalid_argument', 'a scalar must be from 1 to n - 1')
  let low = infinity
  let high = base
  // Montgomery ladder: high is always low + base, and every bit costs one addition and one doubling.
  for (let bit = 255n; bit >= 0n; bit--) {
    const sum = add(low, high)
    if ((scalar >> bit) & 1n) {
      low = sum
      high = add(high, high)
    } else {
      high = sum
      low = add(low, low)
    }
  }
  const inverse = invert(low.Z)
  const out = new Uint8Array(65)
  out[0] = 4
  out.set(numberTo32Bytes(mod(low.X * inverse)), 1)
  out.set(numberTo32Bytes(mod(low.Y * inverse)), 33)
  return out
}

/**
 * Whether bytes are a SEC1 uncompressed point of P-256: 65 bytes, 0x04 first, both coordinates below p, and on the
 * curve. The group has prime order, so such a point is a valid public key (SP 800-56A section 5.6.2.3.4). This check
 * keeps invalid-curve points away from private keys, even if a platform's import is lax.
 *
 * @example isUncompressedPoint(publicPointOf(5n)) // true
 */
export function isUncompressedPoint(bytes: Uint8Array): boolean {
  if (bytes.length !== 65 || bytes[0] !== 4) return false
  const x = bytesToNumber(bytes.subarray(1, 33))
  const y = bytesToNumber(bytes.subarray(33))
  return x < p && y < p && mod(y * y - (x * x * x + a * x + b)) === 0n
}
