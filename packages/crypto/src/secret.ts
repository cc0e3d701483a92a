import { type Bytes, decodeUtf8, encodeUtf8 } from './base64url.ts'
import { formatBlob, parseBlob } from './blob.ts'
import { CryptoError } from './errors.ts'
import { aesKeyLengthBytes, importAesKey, openGcm, sealGcm } from './gcm.ts'
import { randomBytes } from './random.ts'

/** An environment's data encryption key, imported once for any number of secrets. Its bytes cannot be read back. */
export interface Dek {
  readonly key: CryptoKey
}

/**
 * Bytes of a fresh DEK: 32 random bytes, to be wrapped to everyone who may read the environment, then forgotten.
 *
 * @example
 * const bytes = newDek()
 * const wrappedDek = await wrapKey(bytes, publicKeyJwk)
 * const dek = await importDek(bytes)
 */
export function newDek(): Bytes {
  return randomBytes(aesKeyLengthBytes)
}

/**
 * Imports a DEK once, so that a layer of many secrets does not import it for each.
 *
 * @throws CryptoError `malformed_key` unless there are 32 bytes.
 * @example const dek = await importDek(await unwrapKey(layer.wrappedDek, privateKey))
 */
export async function importDek(bytes: Bytes): Promise<Dek> {
  return { key: await importAesKey(bytes) }
}

/**
 * Encrypts one secret value: `sc1.<iv>.<ciphertext and tag>`. The blob opens only as this name in this environment.
 *
 * @param value any text, also empty. Its length shows: the ciphertext is as long as its UTF-8.
 * @throws CryptoError `malformed_text` for a value with a lone surrogate, `invalid_argument` for a place that would be
 *   ambiguous.
 * @example const ciphertext = await sealSecret('postgres://...', dek, envId, 'DATABASE_URL')
 */
export async function sealSecret(value: string, dek: Dek, environmentId: string, name: string): Promise<string> {
  const { iv, ciphertext } = await sealGcm(dek.key, encodeUtf8(value), placeOf(environmentId, name))
  return formatBlob('sc1', [iv, ciphertext])
}

/**
 * Decrypts one secret value. The environment is the one that the ciphertext was made in: for a branch that inherits a
 * value, the layer's `environmentId`.
 *
 * @throws CryptoError `unsupported_prefix`, `malformed_blob`, `decryption_failed` (wrong DEK, name or environment, or
 *   altered bytes), `malformed_text` for a plaintext that is no UTF-8, `invalid_argument`.
 * @example const value = await openSecret(ciphertext, dek, envId, 'DATABASE_URL')
 */
export async function openSecret(blob: string, dek: Dek, environmentId: string, name: string): Promise<string> {
  const [iv, ciphertext] = parseBlob(blob, 'sc1') as [Bytes, Bytes]
  return decodeUtf8(await openGcm(dek.key, iv, ciphertext, placeOf(environmentId, name)))
}

/** The AAD, `<environmentId>/<NAME>`. With a slash in the id, two places could share one AAD. */
function placeOf(environmentId: string, name: string): Bytes {
  if (environmentId === '' || environmentId.includes('/') || name === '') {
    throw new CryptoError('invalid_argument', 'an environment id without slash, and a name')
  }
  return encodeUtf8(`${environmentId}/${name}`)
}
