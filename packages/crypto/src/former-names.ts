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

/** A version of a secret in a response of the server. */
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
 * Encrypts the former names of a secret: `sn1.<iv>.<ciphertext and tag>`. The blob opens only for the present name in
 * this environment, and never as a value. It holds the newest names and versions; older ones no longer open.
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

/** The former name whose versions in the record include this one. */
const formerNameOf = (formerNames: readonly FormerName[], version: number): FormerName | undefined =>
  formerNames.find(({ since, digests }) => since <= version && version < since + digests.length)

/**
 * Finds the former name that the record proves for a version, because it has the digest of the ciphertext. Undefined if
 * it proves none.
 *
 * @example const name = await provenName({ version: 1, ciphertext }, [])
 */
export async function provenName(
  { version, ciphertext }: StoredVersion,
  formerNames: readonly FormerName[],
): Promise<string | undefined> {
  const former = formerNameOf(formerNames, version)
  return former?.digests[version - former.since] === (await ciphertextDigest(ciphertext)) ? former?.name : undefined
}

/**
 * Says whether the record fits a version. The record has the digest of the ciphertext, or the version is newer than the
 * record. A version that does not fit may be a value of another version, or the record is wrong.
 *
 * @example const fits = await fitsRecord({ version: 1, ciphertext }, [])
 */
export async function fitsRecord(stored: StoredVersion, formerNames: readonly FormerName[]): Promise<boolean> {
  const isLater = formerNames.every(({ since, digests }) => since + digests.length <= stored.version)
  return isLater || (await provenName(stored, formerNames)) !== undefined
}

/**
 * Decrypts one version of a secret. It opens under the former name that the record proves for it, or under the present
 * name, and under no other. So versions of the present name open despite a wrong record, which any holder of the key
 * can store. Without a record, every ciphertext that was once encrypted under the present name opens, as for a secret
 * that was never renamed: `fitsRecord` says whether a version is the one that the renaming client saw.
 *
 * @param formerNames the opened record of the secret; empty if it was never renamed, or if the record does not open.
 * @param name the present name of the secret.
 * @returns the value, and the name that it was encrypted under.
 * @throws CryptoError `decryption_failed` for a version that opens under neither name; the errors of `openSecret`.
 * @example const { value } = await openVersion({ version: 1, ciphertext }, [], dek, envId, 'API_KEY')
 */
export async function openVersion(
  stored: StoredVersion,
  formerNames: readonly FormerName[],
  dek: Dek,
  environmentId: string,
  name: string,
): Promise<{ value: string; name: string }> {
  const open = async (name: string) => ({ value: await openSecret(stored.ciphertext, dek, environmentId, name), name })
  const former = await provenName(stored, formerNames)
  return former === undefined ? open(name) : open(former).catch(() => open(name))
}

/** Builds the AAD. No environment id begins with `skerry-names`, so the record is never taken for a value. */
function placeOf(environmentId: string, name: string): Bytes {
  if (environmentId === '' || environmentId.includes('/') || name === '')
    throw new CryptoError('invalid_argument', 'expected an environment id without a slash, and a name')
  return encodeUtf8(`skerry-names/v1/${environmentId}/${name}`)
}
