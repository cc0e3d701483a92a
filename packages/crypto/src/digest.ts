import { type Bytes, encodeBase64url, encodeUtf8 } from './base64url.ts'
import { formatPublicKeyJwk, parsePublicKeyJwk } from './keys.ts'

/**
 * Computes SHA-256: 32 bytes.
 *
 * @example encodeBase64url(await sha256(encodeUtf8('abc')))
 */
export async function sha256(bytes: Bytes): Promise<Bytes> {
  return new Uint8Array(await crypto.subtle.digest('SHA-256', bytes))
}

/**
 * Computes the hash that the server stores for a service token: base64url SHA-256 of the exact string that is sent as
 * bearer, 43 characters.
 *
 * @throws CryptoError `malformed_text` for a bearer with a lone surrogate.
 * @example await tokenHash(bearer) // registered as `tokenHash`
 */
export async function tokenHash(bearer: string): Promise<string> {
  return encodeBase64url(await sha256(encodeUtf8(bearer)))
}

/**
 * Computes the fingerprint of a public key: its RFC 7638 thumbprint, base64url SHA-256, 43 characters. Two spellings of
 * one key (member order, `key_ops`, `kid`) have one fingerprint.
 *
 * @throws CryptoError `malformed_key`.
 * @example await fingerprint(publicKeyJwk) // compare with what the other person reads out
 */
export async function fingerprint(publicKeyJwk: string): Promise<string> {
  // `formatPublicKeyJwk` writes the form of RFC 7638: the required members only, in lexicographic order, no whitespace.
  return encodeBase64url(await sha256(encodeUtf8(formatPublicKeyJwk(parsePublicKeyJwk(publicKeyJwk)))))
}
