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
export async function fingerprintWords(publicKeyJwk: string): Promise<string> {
  const bytes = decodeBase64url(await fingerprint(publicKeyJwk))
  const bits = Array.from(bytes, (byte) => byte.toString(2).padStart(8, '0')).join('')
  const indices = Array.from({ length: wordCount }, (_, i) =>
    Number.parseInt(bits.slice(i * bitsPerWord, (i + 1) * bitsPerWord), 2),
  )
  return indices.map((index) => words[index]).join(' ')
}
