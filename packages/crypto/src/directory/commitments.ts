import { type Bytes, encodeBase64url, encodeUtf8 } from '../base64url.ts'
import { sha256 } from '../digest.ts'
import { CryptoError } from '../errors.ts'
import { canonicalBytes, hashPattern } from './shape.ts'

const environmentLabel = 'skerry/environment-key/v1'
const managedLabel = 'skerry/managed-key/v1'
const keyLengthBytes = 32

/**
 * Computes the commitment to the key of an environment, base64url. It reveals nothing about the key, because the key is
 * random. A client compares it with the key that it unwrapped.
 *
 * @throws CryptoError `invalid_argument` unless the key has 32 bytes and the id is one of an environment.
 * @example const commitment = await environmentKeyCommitment(envId, newDek())
 */
export const environmentKeyCommitment = (environmentId: string, key: Bytes): Promise<string> =>
  commitmentOf([environmentLabel, environmentId], key)

/**
 * Computes the commitment to one version of a managed key that encrypts, base64url.
 *
 * @throws CryptoError `invalid_argument` unless the key has 32 bytes and the version is a whole number from 1.
 * @example const commitment = await managedKeyCommitment(kmsKeyId, 1, newDek())
 */
export async function managedKeyCommitment(keyId: string, version: number, key: Bytes): Promise<string> {
  if (!Number.isSafeInteger(version) || version < 1)
    throw new CryptoError('invalid_argument', 'expected a version from 1')
  return commitmentOf([managedLabel, keyId, String(version)], key)
}

/** Zero bytes separate the parts. No label, id or version contains one, so no two inputs give the same bytes. */
async function commitmentOf(texts: readonly string[], key: Bytes): Promise<string> {
  if (key.length !== keyLengthBytes) throw new CryptoError('invalid_argument', 'a key must have 32 bytes')
  if (texts.some((text) => text === '' || text.includes('\0')))
    throw new CryptoError('invalid_argument', 'expected an id without zero bytes')
  const start = encodeUtf8(texts.map((text) => `${text}\0`).join(''))
  const bytes = new Uint8Array(start.length + key.length)
  bytes.set(start)
  bytes.set(key, start.length)
  return encodeBase64url(await sha256(bytes))
}

/** A reader: the key of its entry, and the thumbprint of the key that the environment's key may be wrapped to. */
export type Reader = readonly [entryKey: string, kid: string]

const readerPattern = /^(?:person|token|worker)\/[A-Za-z0-9_]{1,64}$/

/**
 * Computes the hash of the readers of an environment or a managed key, base64url. The order of the list does not matter.
 *
 * @throws CryptoError `invalid_argument` for a reader that is listed twice, and for a malformed one.
 * @example await readersHash([[`person/${userId}`, remembered]])
 */
export async function readersHash(readers: readonly Reader[]): Promise<string> {
  const sorted = readers.toSorted(([one], [other]) => (one < other ? -1 : 1))
  const isValid = sorted.every(
    ([key, kid], index) => readerPattern.test(key) && hashPattern.test(kid) && key !== sorted[index - 1]?.[0],
  )
  if (!isValid) throw new CryptoError('invalid_argument', 'expected entry keys with a thumbprint, none of them twice')
  return encodeBase64url(await sha256(canonicalBytes(sorted)))
}
