import { type BlobPrefix, blobKinds } from '@skerry/contract/prefixes'
import { type Bytes, decodeBase64url, encodeBase64url } from './base64url.ts'
import { CryptoError } from './errors.ts'

const segmentPattern = /^[A-Za-z0-9_-]+$/

/**
 * Splits an opaque blob into the text segments after its prefix. Segments are not decoded, because some are not
 * base64url (the parameters of `pk1.`). The number of segments and their alphabet are checked.
 *
 * @throws CryptoError `unsupported_prefix`, `malformed_blob`.
 * @example splitBlob('sc1.AAAA.BBBB', 'sc1') // ['AAAA', 'BBBB']
 */
export function splitBlob(blob: string, prefix: BlobPrefix): string[] {
  if (typeof blob !== 'string') throw new CryptoError('malformed_blob', 'expected a string')
  const [actual, ...segments] = blob.split('.')
  if (actual !== prefix) throw new CryptoError('unsupported_prefix', `expected ${prefix}`)
  if (segments.length !== blobKinds[prefix].segments || !segments.every((segment) => segmentPattern.test(segment))) {
    throw new CryptoError('malformed_blob', `${prefix} needs ${blobKinds[prefix].segments} base64url segments`)
  }
  return segments
}

/**
 * Decodes the segments of an opaque blob whose segments are all base64url. The contract's table gives their number, and
 * none is empty.
 *
 * @throws CryptoError `unsupported_prefix`, `malformed_blob`.
 * @example const [iv, ciphertext] = parseBlob(blob, 'sc1')
 */
export function parseBlob(blob: string, prefix: BlobPrefix): Bytes[] {
  return splitBlob(blob, prefix).map((segment) => decodeBase64url(segment, 'malformed_blob'))
}

/**
 * Builds a blob from its prefix and segments. Bytes are encoded. Text segments (parameters) are used as they are.
 *
 * @throws CryptoError `invalid_argument` when the segments do not make a blob that {@link splitBlob} accepts.
 * @example formatBlob('sc1', [new Uint8Array(3), 'BBBB']) // 'sc1.AAAA.BBBB'
 */
export function formatBlob(prefix: BlobPrefix, segments: readonly (Uint8Array | string)[]): string {
  const texts = segments.map((segment) => (typeof segment === 'string' ? segment : encodeBase64url(segment)))
  if (texts.length !== blobKinds[prefix].segments || !texts.every((text) => segmentPattern.test(text))) {
    throw new CryptoError('invalid_argument', `expected the segments of a ${prefix} blob`)
  }
  return [prefix, ...texts].join('.')
}
