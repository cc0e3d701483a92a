import { limits } from '@skerry/contract/limits'
import { type Bytes, decodeUtf8, encodeBase64url, encodeUtf8 } from './base64url.ts'
import { formatBlob, parseBlob } from './blob.ts'
import { sha256 } from './digest.ts'
import { CryptoError } from './errors.ts'
import { openGcm, sealGcm } from './gcm.ts'
import { type Dek, openSecret } from './secret.ts'

/**
 * A former name of a secret, with the versions that were encrypted under it: `digests` has one for each version from
 * `since` on.
 */
export interface FormerName {
  name: string
  since: number
  digests: readonly string[]
}

/** A version of a secret, as the server shows it. */
export interface StoredVersion {
  version: number
  ciphertext: string
}

/** 128 bits, in base64url. */
const digestCharacters = 22

/**
 * Computes the digest by which the record of former names knows a ciphertext.
 *
 * @example const digest = await ciphertextDigest(ciphertext)
 */
export async function ciphertextDigest(ciphertext: string): Promise<string> {
  return encodeBase64url(await sha256(encodeUtf8(ciphertext))).slice(0, digestCharacters)
}

/**
 * Encrypts the former names of a secret: `sn1.<iv>.<ciphertext and tag>`. The blob opens only for the present name in this
 * environment, and never as a value. It holds the newest names and versions; older ones no longer open.
 *
 * @param formerNames oldest first.
 * @throws CryptoError `invalid_argument` for an ambiguous environment id or name.
 * @example
 * const digests = [await ciphertextDigest(ciphertext)]
 * const record = await sealFormerNames([{ name: 'OLD', since: 1, digests }], dek, envId, 'NEW')
 */
export async function sealFormerNames(
  formerNames: readonly FormerName[],
  dek: Dek,
  environmentId: string,
  name: string,
): Promise<string> {
  const plaintext = encodeUtf8(JSON.stringify(newestOf(formerNames)))
  const { iv, ciphertext } = await sealGcm(dek.key, plaintext, placeOf(environmentId, name))
  return formatBlob('sn1', [iv, ciphertext])
}

/** Drops the oldest names and versions beyond the limits. */
function newestOf(formerNames: readonly FormerName[]): FormerName[] {
  let free: number = limits.formerVersionsMax
  return formerNames
    .slice(-limits.formerNamesMax)
    .toReversed()
    .map(({ name, since, digests }) => {
      const dropped = Math.max(digests.length - free, 0)
      free -= digests.length - dropped
      return { name, since: since + dropped, digests: digests.slice(dropped) }
    })
    .filter(({ digests }) => digests.length > 0)
    .toReversed()
}

/**
 * Decrypts the former names of a secret, oldest first.
 *
 * @throws CryptoError `unsupported_prefix`, `malformed_blob`, `decryption_failed` for another name, environment or key,
 *   `malformed_text` for a plaintext of another form, `invalid_argument`.
 * @example
 * const record = await sealFormerNames([], dek, envId, 'NEW')
 * const formerNames = await openFormerNames(record, dek, envId, 'NEW')
 */
export async function openFormerNames(
  blob: string,
  dek: Dek,
  environmentId: string,
  name: string,
): Promise<FormerName[]> {
  const [iv, ciphertext] = parseBlob(blob, 'sn1') as [Bytes, Bytes]
  return parse(decodeUtf8(await openGcm(dek.key, iv, ciphertext, placeOf(environmentId, name))))
}

function parse(text: string): FormerName[] {
  try {
    const rows: unknown = JSON.parse(text)
    if (Array.isArray(rows) && rows.every(isFormerName))
      return rows.map(({ name, since, digests }) => ({ name, since, digests }))
  } catch {
    // falls through: no JSON
  }
  throw new CryptoError('malformed_text', 'expected former names')
}

const isFormerName = (row: Partial<FormerName> | null): row is FormerName =>
  typeof row?.name === 'string' &&
  Number.isSafeInteger(row.since) &&
  Array.isArray(row.digests) &&
  row.digests.every((digest) => typeof digest === 'string')

/** The name that a version was encrypted under, if it is not the present name. */
const formerNameOf = (formerNames: readonly FormerName[], version: number): FormerName | undefined =>
  formerNames.find(({ since, digests }) => since <= version && version < since + digests.length)

/**
 * Decrypts one version of a secret. A version from before a rename opens only under the name that the record has for it, and
 * only if it is the very ciphertext that the renaming client saw. Without the record, every ciphertext that was once encrypted
 * under the present name opens, as for a secret that was never renamed.
 *
 * @param formerNames the opened record of the secret; empty if it was never renamed.
 * @param name the present name of the secret.
 * @throws CryptoError `decryption_failed` for a version that the record does not have, or has otherwise; the errors of
 *   `openSecret`.
 * @example const value = await openVersion({ version: 1, ciphertext }, [], dek, envId, 'API_KEY')
 */
export async function openVersion(
  { version, ciphertext }: StoredVersion,
  formerNames: readonly FormerName[],
  dek: Dek,
  environmentId: string,
  name: string,
): Promise<string> {
  const former = formerNameOf(formerNames, version)
  if (former) {
    if (former.digests[version - former.since] !== (await ciphertextDigest(ciphertext)))
      throw new CryptoError('decryption_failed', 'this is not the version that was there when the secret was renamed')
    return openSecret(ciphertext, dek, environmentId, former.name)
  }
  const last = formerNames.at(-1)
  if (last && version < last.since + last.digests.length)
    throw new CryptoError('decryption_failed', 'this version is older than the record of former names')
  return openSecret(ciphertext, dek, environmentId, name)
}

/** Builds the AAD. No environment id begins with `skerry-names`, so the record is never taken for a value. */
function placeOf(environmentId: string, name: string): Bytes {
  if (environmentId === '' || environmentId.includes('/') || name === '')
    throw new CryptoError('invalid_argument', 'expected an environment id without a slash, and a name')
  return encodeUtf8(`skerry-names/v1/${environmentId}/${name}`)
}
