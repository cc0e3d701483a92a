import { CryptoError, type CryptoErrorCode } from './errors.ts'

/**
 * Bytes that WebCrypto accepts. They are never in shared memory, because another thread could change shared memory
 * after the SDK has checked the bytes.
 */
export type Bytes = Uint8Array<ArrayBuffer>

const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_'
const outside = 64

const encodeTable = Uint8Array.from(alphabet, (character) => character.charCodeAt(0))
const decodeTable = new Uint8Array(128).fill(outside)
for (let i = 0; i < alphabet.length; i++) decodeTable[alphabet.charCodeAt(i)] = i

/**
 * Encodes bytes as base64url without padding (RFC 4648 section 5).
 *
 * @example encodeBase64url(new Uint8Array([255, 254])) // '__4'
 */
export function encodeBase64url(bytes: Uint8Array): string {
  const out = new Uint8Array(Math.ceil((bytes.length * 8) / 6))
  let at = 0
  let buffer = 0
  let bits = 0
  for (const byte of bytes) {
    buffer = ((buffer << 8) | byte) & 0xffff
    bits += 8
    while (bits >= 6) {
      bits -= 6
      out[at++] = encodeTable[(buffer >> bits) & 63]!
    }
  }
  if (bits > 0) out[at] = encodeTable[(buffer << (6 - bits)) & 63]!
  return new TextDecoder().decode(out)
}

/**
 * Decodes base64url without padding. Each byte string has exactly one accepted text. Padding, whitespace, `+` and `/`,
 * an impossible length and non-zero trailing bits are refused, so that nobody can respell a blob or a token.
 *
 * @param code the error code to use, for callers whose input has a better name than "base64url".
 * @throws CryptoError `malformed_base64url`, or `code`.
 * @example decodeBase64url('__4') // Uint8Array [255, 254]
 */
export function decodeBase64url(text: string, code: CryptoErrorCode = 'malformed_base64url'): Bytes {
  if (typeof text !== 'string') throw new CryptoError(code, 'expected a string')
  if (text.length % 4 === 1) throw new CryptoError(code, 'no base64url text has this length')
  const out = new Uint8Array(Math.floor((text.length * 6) / 8))
  let at = 0
  let buffer = 0
  let bits = 0
  for (let i = 0; i < text.length; i++) {
    const value = decodeTable[text.charCodeAt(i)] ?? outside
    if (value === outside) throw new CryptoError(code, 'it contains a character outside the base64url alphabet')
    buffer = ((buffer << 6) | value) & 0xffff
    bits += 6
    if (bits >= 8) {
      bits -= 8
      out[at++] = (buffer >> bits) & 255
    }
  }
  if ((buffer & ((1 << bits) - 1)) !== 0) throw new CryptoError(code, 'its unused last bits are not zero')
  return out
}

/**
 * Encodes text as UTF-8. A lone surrogate is refused, because TextEncoder would silently replace it with U+FFFD.
 *
 * @throws CryptoError `malformed_text`.
 * @example encodeUtf8('é') // Uint8Array [195, 169]
 */
export function encodeUtf8(text: string): Bytes {
  if (typeof text !== 'string' || !text.isWellFormed()) throw new CryptoError('malformed_text')
  return new TextEncoder().encode(text)
}

/**
 * Decodes UTF-8 to text. Invalid UTF-8 is refused. A leading byte order mark is content and is kept.
 *
 * @throws CryptoError `malformed_text`.
 * @example decodeUtf8(new Uint8Array([195, 169])) // 'é'
 */
export function decodeUtf8(bytes: Uint8Array): string {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes)
  } catch {
    throw new CryptoError('malformed_text')
  }
}
