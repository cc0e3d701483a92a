import { base62, type IdKind, idLength, idPrefixes } from '@skerry/contract/prefixes'
import type { Bytes } from './base64url.ts'
import { CryptoError } from './errors.ts'

/** The most bytes that one call of `getRandomValues` gives (Web Cryptography API, section 10.1.1). */
const quotaBytes = 65_536

/** The largest multiple of 62 that a byte can hold. Bytes from here on would make the first 8 characters likelier. */
const rejectFrom = 248

/**
 * Returns `length` bytes from the platform's cryptographic generator.
 *
 * @throws CryptoError `invalid_argument` unless `length` is a whole number of bytes from 0.
 * @example const seed = randomBytes(32)
 */
export function randomBytes(length: number): Bytes {
  if (!Number.isSafeInteger(length) || length < 0)
    throw new CryptoError('invalid_argument', 'expected a length in bytes')
  const out = new Uint8Array(length)
  for (let at = 0; at < length; at += quotaBytes) crypto.getRandomValues(out.subarray(at, at + quotaBytes))
  return out
}

/**
 * Makes a text of `length` letters and digits, every one equally likely. They need no quoting in URLs, shells and files.
 *
 * @throws CryptoError `invalid_argument` unless `length` is a whole number from 0.
 * @example randomText(32) // 'x4Tq...'
 */
export function randomText(length: number): string {
  let text = ''
  while (text.length < length) {
    for (const byte of randomBytes(length)) {
      if (byte < rejectFrom && text.length < length) text += base62[byte % base62.length]
    }
  }
  return text
}

/**
 * Makes a fresh row id: the kind's prefix and 22 base62 characters (131 bits), every character equally likely.
 *
 * @example newId('environment') // 'env_6EYgmoh8LuiPPAbM0SaVtc'
 */
export const newId = (kind: IdKind): string => idPrefixes[kind] + randomText(idLength)
