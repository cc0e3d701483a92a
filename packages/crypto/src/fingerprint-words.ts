import { decodeBase64url } from './base64url.ts'
import { fingerprint } from './digest.ts'
import { words } from './words.ts'

/**
 * Twelve words of 11 bits: 132 bits. A server that wants another key to read the same must find one, and 2^132 tries
 * are no less than what breaking P-256 itself costs (2^128). Eight words, 88 bits, would be shorter to read out, but a
 * server of many members tries all of their fingerprints at once, which takes off another 20 bits or so.
 */
const wordCount = 12
const bitsPerWord = 11

/**
 * A public key's fingerprint for people, to be read out and compared: the first 132 bits of its RFC 7638 thumbprint
 * (`fingerprint`) as twelve words of the BIP-39 English list, lowercase, with one blank between them. Two spellings of
 * one key read the same. Programs compare keys, not words.
 *
 * @throws CryptoError `malformed_key`.
 * @example await fingerprintWords(publicKeyJwk) // 'canal pulp ... twelve words'
 */
export async function fingerprintWords(publicKeyJwk: string): Promise<string> {
  const bytes = decodeBase64url(await fingerprint(publicKeyJwk))
  const bits = Array.from(bytes, (byte) => byte.toString(2).padStart(8, '0')).join('')
  const indices = Array.from({ length: wordCount }, (_, i) =>
    Number.parseInt(bits.slice(i * bitsPerWord, (i + 1) * bitsPerWord), 2),
  )
  return indices.map((index) => words[index]).join(' ')
}
