import { type KmsSpec, kmsSpecs } from './kms/specs.ts'

const allowedMembers = new Set(['kty', 'crv', 'x', 'y', 'key_ops', 'ext', 'kid', 'alg', 'use'])
const coordinate = /^[A-Za-z0-9_-]{43}$/

/**
 * Returns why a string is not the JWK JSON of a P-256 public key, or null if it is one. This function checks the form
 * alone. The server also checks whether the point is on the curve, and each client does so before it wraps.
 *
 * Any member that a public key does not have is refused. A client that uploads its private key by mistake must get an
 * error before the server has stored the key. The reason never repeats the content of the string.
 *
 * @example publicKeyProblem('{"kty":"EC","crv":"P-256","x":"...","y":"..."}') // null
 */
export function publicKeyProblem(jwkJson: string): string | null {
  let jwk: unknown
  try {
    jwk = JSON.parse(jwkJson)
  } catch {
    return 'is not JSON'
  }
  if (typeof jwk !== 'object' || jwk === null || Array.isArray(jwk)) return 'is not a JWK object'
  const { kty, crv, x, y } = jwk as Record<string, unknown>
  if (kty !== 'EC' || crv !== 'P-256') return 'is not an EC P-256 key'
  for (const member of Object.keys(jwk))
    if (!allowedMembers.has(member)) return 'has a member that a public key does not have'
  if (typeof x !== 'string' || typeof y !== 'string' || !coordinate.test(x) || !coordinate.test(y))
    return 'has no x and y of 32 bytes each'
  return null
}

const okpMembers = new Set(['kty', 'crv', 'x', 'key_ops', 'ext', 'kid', 'alg', 'use'])

/**
 * Returns why a string is not the JWK JSON of a public key of this spec, or null if it is one. It works like
 * `publicKeyProblem`. For a spec of keys that encrypt, every string is refused, because they have no public key.
 *
 * @example signingKeyProblem('ed25519', '{"kty":"OKP","crv":"Ed25519","x":"..."}') // null
 */
export function signingKeyProblem(spec: KmsSpec, jwkJson: string): string | null {
  if (kmsSpecs[spec].purpose !== 'sign') return 'is not for a key that encrypts'
  if (spec === 'ecdsa-p256-sha256') return publicKeyProblem(jwkJson)
  let jwk: unknown
  try {
    jwk = JSON.parse(jwkJson)
  } catch {
    return 'is not JSON'
  }
  if (typeof jwk !== 'object' || jwk === null || Array.isArray(jwk)) return 'is not a JWK object'
  const { kty, crv, x } = jwk as Record<string, unknown>
  if (kty !== 'OKP' || crv !== 'Ed25519') return 'is not an OKP Ed25519 key'
  for (const member of Object.keys(jwk))
    if (!okpMembers.has(member)) return 'has a member that a public key does not have'
  if (typeof x !== 'string' || !/^[A-Za-z0-9_-]{43}$/.test(x)) return 'has no x of 32 bytes'
  return null
}
