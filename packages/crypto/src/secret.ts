import { type Bytes, decodeUtf8, encodeUtf8 } from './base64url.ts'
import { formatBlob, parseBlob } from './blob.ts'
import { CryptoError } from './errors.ts'
import { aesKeyLengthBytes, importAesKey, openGcm, sealGcm } from './gcm.ts'
import { randomBytes } from './random.ts'

/** The key of an environment, ready to encrypt and decrypt secrets. Its 32 bytes cannot be read from this object. */
export interface Dek {
  readonly key: CryptoKey
}

/**
 * Makes the bytes of a fresh DEK: 32 random bytes. Wrap them to everyone who may read the environment, then discard
 * them.
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
 * Encrypts one secret value: `sc1.<iv>.<ciphertext and tag>`. The blob decrypts only under this name in this
 * environment.
 *
 * @param value any text, even empty. The ciphertext reveals its length in UTF-8 bytes.
 * @throws CryptoError `malformed_text` for a value with a lone surrogate, `invalid_argument` for an ambiguous
 *   environment id or name.
 * @example const ciphertext = await sealSecret('postgres://...', dek, envId, 'DATABASE_URL')
 */
export async function sealSecret(value: string, dek: Dek, environmentId: string, name: string): Promise<string> {
  const { iv, ciphertext } = await sealGcm(dek.key, encodeUtf8(value), placeOf(environmentId, name))
  return formatBlob('sc1', [iv, ciphertext])
}

/**
 * Decrypts one secret value. The environment must be the one that the ciphertext was made in. For a branch that
 * inherits a value, this is the layer's `environmentId`.
 *
 * @throws CryptoError `unsupported_prefix`, `malformed_blob`, `decryption_failed` (wrong DEK, name or environment, or
 *   altered bytes), `malformed_text` for a plaintext that is not UTF-8, `invalid_argument`.
 * @example const value = await openSecret(ciphertext, dek, envId, 'DATABASE_URL')
 */
export async function openSecret(blob: string, dek: Dek, environmentId: string, name: string): Promise<string> {
  const [iv, ciphertext] = parseBlob(blob, 'sc1') as [Bytes, Bytes]
  return decodeUtf8(await openGcm(dek.key, iv, ciphertext, placeOf(environmentId, name)))
}

/** Builds the AAD, `<environmentId>/<NAME>`. With a slash in the id, two different secrets could have the same AAD. */
function placeOf(environmentId: string, name: string): Bytes {
  if (environmentId === '' || environmentId.includes('/') || name === '') {
    throw new CryptoError('invalid_argument', 'expected an environment id without a slash, and a name')
  }
  return encodeUtf8(`${environmentId}/${name}`)
}
