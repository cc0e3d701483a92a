import type { Bytes } from './base64url.ts'
import { CryptoError } from './errors.ts'
import { randomBytes } from './random.ts'

/** AES-256 keys: 32 bytes. */
export const aesKeyLengthBytes = 32

/** 96 bits. GCM hashes an IV of any other length (NIST SP 800-38D section 7.1), which makes collisions likelier. */
export const ivLengthBytes = 12

/** Always the full 128-bit tag, at the end of the ciphertext. */
export const tagLengthBytes = 16

/**
 * Imports raw bytes as an AES-256-GCM key that cannot be read back.
 *
 * @throws CryptoError `malformed_key` unless there are 32 bytes.
 * @example const key = await importAesKey(randomBytes(32))
 */
export async function importAesKey(bytes: Bytes): Promise<CryptoKey> {
  if (bytes.length !== aesKeyLengthBytes) throw new CryptoError('malformed_key', 'an AES-256 key must have 32 bytes')
  return crypto.subtle.importKey('raw', bytes, 'AES-GCM', false, ['encrypt', 'decrypt'])
}

/**
 * Encrypts with AES-256-GCM under a fresh random 96-bit IV. `ciphertext` ends with the 16-byte tag. One key may be used
 * for 2^32 calls (NIST SP 800-38D section 8.3).
 *
 * @example
 * const key = await importAesKey(randomBytes(32))
 * const { iv, ciphertext } = await sealGcm(key, encodeUtf8('value'), encodeUtf8('where it belongs'))
 */
export async function sealGcm(key: CryptoKey, plaintext: Bytes, aad: Bytes): Promise<{ iv: Bytes; ciphertext: Bytes }> {
  const iv = randomBytes(ivLengthBytes)
  const sealed = await crypto.subtle.encrypt({ name: 'AES-GCM', iv, additionalData: aad }, key, plaintext)
  return { iv, ciphertext: new Uint8Array(sealed) }
}

/**
 * Decrypts the result of {@link sealGcm}. Another IV length, or a ciphertext too short for its tag, is refused before
 * anything is decrypted.
 *
 * @throws CryptoError `malformed_blob` for a wrong shape; `decryption_failed` for a wrong key, a wrong AAD or altered
 *   bytes, which cannot be told apart.
 * @example
 * const [key, aad] = [await importAesKey(randomBytes(32)), encodeUtf8('where it belongs')]
 * const { iv, ciphertext } = await sealGcm(key, encodeUtf8('value'), aad)
 * const plaintext = await openGcm(key, iv, ciphertext, aad)
 */
export async function openGcm(key: CryptoKey, iv: Bytes, ciphertext: Bytes, aad: Bytes): Promise<Bytes> {
  if (iv.length !== ivLengthBytes) throw new CryptoError('malformed_blob', 'an IV must have 12 bytes')
  if (ciphertext.length < tagLengthBytes)
    throw new CryptoError('malformed_blob', 'the ciphertext is shorter than its tag')
  try {
    return new Uint8Array(await crypto.subtle.decrypt({ name: 'AES-GCM', iv, additionalData: aad }, key, ciphertext))
  } catch {
    throw new CryptoError('decryption_failed')
  }
}
