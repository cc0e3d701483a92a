import { decodeBase64url } from './base64url.ts'
import { fingerprint } from './digest.ts'
import { words } from './words.ts'

/**
 * Twelve words of 11 bits: 132 bits. A server that wants another key with the same words must find one by trial. 2^132
 * tries cost no less than breaking P-256 itself (2^128). Eight words (88 bits) would be shorter to read out. But a
 * server with many members tries all of their fingerprints at once, which takes off another 20 bits or so.
 */
const wordCount = 12
const bitsPerWord = 11

/**
 * Turns a public key's fingerprint into words that people read out and compare. It takes the first 132 bits of the RFC
 * 7638 thumbprint (`fingerprint`) as twelve words of the BIP-39 English list, lowercase, separated by one space. Two
 * spellings of one key give the same words. Programs compare keys, not words.
 *
 * @throws CryptoError `malformed_key`.
 * @example await fingerprintWords(publicKeyJwk) // 'canal pulp ... twelve words'
 */
export const fingerprintWords = async (publicKeyJwk: string): Promise<string> =>
  thumbprintWords(await fingerprint(publicKeyJwk))

/**
 * Returns the words of a key of which only the thumbprint is known, such as a key that a signed root names.
 *
 * @param thumbprint the RFC 7638 thumbprint, as `fingerprint` returns it.
 * @throws CryptoError `malformed_key`.
 * @example thumbprintWords(await fingerprint(publicKeyJwk)) // the words of `fingerprintWords(publicKeyJwk)`
 */
export function thumbprintWords(thumbprint: string): string {
  const bytes = decodeBase64url(thumbprint, 'malformed_key')
  const bits = Array.from(bytes, (byte) => byte.toString(2).padStart(8, '0')).join('')
  const indices = Array.from({ length: wordCount }, (_, i) =>
    Number.parseInt(bits.slice(i * bitsPerWord, (i + 1) * bitsPerWord), 2),
  )
  return indices.map((index) => words[index]).join(' ')
}
