import { p256 } from '@noble/curves/nist.js'
import { type Bytes, decodeBase64url } from './base64url.ts'
import { CryptoError } from './errors.ts'
import type { SigningKey } from './kms-sign.ts'

// WebCrypto hashes what it signs, so it cannot sign a message that is already hashed. Such messages are files that do
// not fit into memory, and what AWS calls MessageType DIGEST. The library is loaded for nothing else.

const digestLengthBytes = 32

/**
 * Signs the SHA-256 of a message with an ECDSA key. The result is a signature of the message, 64 bytes, as from
 * `signMessage`.
 *
 * @throws CryptoError `invalid_argument` unless the digest has 32 bytes and the key is an ECDSA key.
 * @example
 * const key = await importSigningKey('ecdsa-p256-sha256', pkcs8, { keyId: 'kms_...', version: 1 })
 * const signature = await signDigest(await sha256(message), key)
 */
export async function signDigest(digest: Bytes, { spec, pkcs8 }: SigningKey): Promise<Bytes> {
  checkDigest(digest, spec)
  const key = await crypto.subtle.importKey('pkcs8', pkcs8, { name: 'ECDSA', namedCurve: 'P-256' }, true, ['sign'])
  const { d } = await crypto.subtle.exportKey('jwk', key)
  // Fresh randomness is added to the nonce of RFC 6979, so that a fault in one signature does not reveal the key.
  const options = { prehash: false, lowS: false, extraEntropy: true }
  return new Uint8Array(p256.sign(digest, decodeBase64url(d as string), options))
}

/**
 * Whether a signature of 64 bytes was made by an ECDSA key over the message with this SHA-256.
 *
 * @param point the public SEC1 point, from `parsePublicKeyJwk`.
 * @throws CryptoError `invalid_argument` unless the digest has 32 bytes.
 * @example verifyDigest(await sha256(message), signature, parsePublicKeyJwk(publicKeyJwk))
 */
export function verifyDigest(digest: Bytes, signature: Bytes, point: Bytes): boolean {
  checkDigest(digest, 'ecdsa-p256-sha256')
  try {
    return p256.verify(signature, digest, point, { prehash: false, lowS: false })
  } catch {
    return false
  }
}

function checkDigest(digest: Bytes, spec: SigningKey['spec']): void {
  if (spec !== 'ecdsa-p256-sha256' || digest.length !== digestLengthBytes)
    throw new CryptoError('invalid_argument', 'an ECDSA key signs a SHA-256 digest of 32 bytes')
}
