import { type Bytes, encodeUtf8 } from './base64url.ts'

/**
 * Derives bytes with HKDF-SHA256 (RFC 5869). `info` is a label for the purpose of the output. Two labels give two
 * unrelated outputs.
 *
 * @param lengthBytes at most 8160 (255 blocks).
 * @example const key = await hkdf(randomBytes(32), encodeUtf8('salt'), 'what it is for', 32)
 */
export async function hkdf(secret: Bytes, salt: Bytes, info: string, lengthBytes: number): Promise<Bytes> {
  const key = await crypto.subtle.importKey('raw', secret, 'HKDF', false, ['deriveBits'])
  const algorithm = { name: 'HKDF', hash: 'SHA-256', salt, info: encodeUtf8(info) }
  return new Uint8Array(await crypto.subtle.deriveBits(algorithm, key, lengthBytes * 8))
}
