import { createPublicKey, type KeyObject } from 'node:crypto'
import type { KmsSpec } from '@skerry/contract/kms/specs'
import { publicKeyProblem, signingKeyProblem } from '@skerry/contract/public-key'
import { fail } from '../kernel/errors.ts'

// Checks public keys that arrive in a body, before they are stored, sent or wrapped. If a point is not on the curve,
// every client that wraps to it fails. The server would fail only after it has created a credential.

const offCurve = 'is not a point on the curve'

/**
 * Refuses with 400 unless the text is a P-256 public key as JWK JSON.
 *
 * @param field path of the field in the error message: `body.publicKeyJwk`
 */
export function checkPublicKey(field: string, jwkJson: string): void {
  const problem = publicKeyProblem(jwkJson) ?? (importPublicKey(jwkJson) ? null : offCurve)
  if (problem !== null) throw fail('invalid_request', `${field}: ${problem}`)
}

/** Does the same for the public half of a managed signing key. */
export function checkSigningKey(field: string, spec: KmsSpec, jwkJson: string): void {
  const isOnCurve = () =>
    spec === 'ecdsa-p256-sha256' ? importPublicKey(jwkJson) !== undefined : isEdwardsPoint(JSON.parse(jwkJson).x)
  const problem = signingKeyProblem(spec, jwkJson) ?? (isOnCurve() ? null : offCurve)
  if (problem !== null) throw fail('invalid_request', `${field}: ${problem}`)
}

/**
 * Returns undefined for a point that is not on the curve. Earlier releases stored keys whose format alone they had
 * checked.
 */
export function importPublicKey(jwkJson: string): KeyObject | undefined {
  const { crv, kty, x, y } = JSON.parse(jwkJson)
  try {
    return createPublicKey({ key: { crv, kty, x, y }, format: 'jwk' })
  } catch {
    return undefined
  }
}

const p = 2n ** 255n - 19n
const d = 0x52036cee2b6ffe738cc740797779e89800700a4d4141d8ab75eb4dca135978a3n

/**
 * Whether 32 bytes are a point of Ed25519 (RFC 8032, 5.1.3). OpenSSL accepts any bytes. The x coordinate is a root of
 * (y² - 1) / (dy² + 1), which exists if the product of numerator and denominator is a square.
 */
function isEdwardsPoint(base64url: string): boolean {
  const encoded = BigInt(`0x${Buffer.from(base64url, 'base64url').reverse().toString('hex')}`)
  const isNegative = encoded >> 255n === 1n
  const y = encoded & (2n ** 255n - 1n)
  if (y >= p) return false
  const square = (y * y) % p
  const product = ((square - 1n + p) * (d * square + 1n)) % p
  if (product === 0n) return !isNegative
  return power(product, (p - 1n) / 2n) === 1n
}

function power(base: bigint, exponent: bigint): bigint {
  let result = 1n
  for (let factor = base, rest = exponent; rest > 0n; rest >>= 1n) {
    if (rest & 1n) result = (result * factor) % p
    factor = (factor * factor) % p
  }
  return result
}
