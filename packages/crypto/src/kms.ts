import { type BlobPrefix, idPattern } from '@skerry/contract/prefixes'
import { type Bytes, decodeBase64url, encodeBase64url, encodeUtf8 } from './base64url.ts'
import { formatBlob, splitBlob } from './blob.ts'
import { sha256 } from './digest.ts'
import { CryptoError } from './errors.ts'
import { aesKeyLengthBytes, importAesKey, openGcm, sealGcm } from './gcm.ts'
import { randomBytes } from './random.ts'

/** The id and version of a managed key. Both are in every blob, and are authenticated with it. */
export interface KeyVersion {
  readonly keyId: string
  /** From 1. */
  readonly version: number
}

/** One version of a managed key that encrypts. Its bytes cannot be read back. */
export interface SealingKey extends KeyVersion {
  readonly key: CryptoKey
}

const keyIdForm = new RegExp(idPattern('kmsKey'))
const versionForm = /^[1-9]\d{0,9}$/

/** This label keeps the fingerprint of a key apart from every other hash. */
const fingerprintLabel = 'skerry/kms-key/v1'

/**
 * Makes the bytes of a fresh key that encrypts. Wrap them to everyone who may use the key, then discard them.
 *
 * @example const wrappedKey = await wrapKey(newSealingMaterial(), publicKeyJwk)
 */
export const newSealingMaterial = (): Bytes => randomBytes(aesKeyLengthBytes)

/**
 * Imports the 32 bytes of one version as a key to encrypt and decrypt with.
 *
 * @throws CryptoError `malformed_key` unless there are 32 bytes, `invalid_argument` for a malformed id or version.
 * @example const sealingKey = await importSealingKey(newSealingMaterial(), { keyId: 'kms_...', version: 1 })
 */
export async function importSealingKey(bytes: Bytes, { keyId, version }: KeyVersion): Promise<SealingKey> {
  if (!keyIdForm.test(keyId) || !versionForm.test(String(version)))
    throw new CryptoError('invalid_argument', 'expected the id of a managed key and a version')
  return { keyId, version, key: await importAesKey(bytes) }
}

/**
 * Computes a fingerprint that distinguishes keys without revealing them: base64url SHA-256 of 256 random bits, 43
 * characters. Clients store it, so that a server cannot replace a key that they have used with one of its own.
 *
 * @example await materialFingerprint(newSealingMaterial()) === remembered // false
 */
export async function materialFingerprint(bytes: Bytes): Promise<string> {
  const label = encodeUtf8(fingerprintLabel)
  const all = new Uint8Array(label.length + bytes.length)
  all.set(label)
  all.set(bytes, label.length)
  return encodeBase64url(await sha256(all))
}

/**
 * Reads the key and version that a blob was made with: `ce1.`, `dk1.` or `sg1.`. They are a claim until the blob is
 * opened.
 *
 * @throws CryptoError `unsupported_prefix`, `malformed_blob`.
 * @example versionOf('ce1.kms_....2.<iv>.<ciphertext>', 'ce1') // { keyId: 'kms_...', version: 2 }
 */
export function versionOf(blob: string, prefix: Extract<BlobPrefix, 'ce1' | 'dk1' | 'sg1'>): KeyVersion {
  const [keyId = '', version = ''] = splitBlob(blob, prefix)
  if (!keyIdForm.test(keyId) || !versionForm.test(version))
    throw new CryptoError('malformed_blob', 'expected the id of a managed key and a version')
  return { keyId, version: Number(version) }
}

/**
 * Encrypts under a managed key: `ce1.<keyId>.<version>.<iv>.<ciphertext and tag>`.
 *
 * @param context what the plaintext belongs to, in the caller's words. The blob opens only with the same context, and
 *   does not contain it.
 * @throws CryptoError `malformed_text` for a context with a lone surrogate.
 * @example const blob = await sealManaged(encodeUtf8('4111...'), sealingKey, 'customer/17')
 */
export async function sealManaged(plaintext: Bytes, key: SealingKey, context = ''): Promise<string> {
  return seal('ce1', plaintext, key, contextAad(key, context))
}

/**
 * Decrypts a blob from {@link sealManaged}.
 *
 * @param key the version that {@link versionOf} returns.
 * @throws CryptoError `unsupported_prefix`, `malformed_blob`, `decryption_failed` (another key, version or context, or
 *   altered bytes).
 * @example const plaintext = await openManaged(blob, sealingKey, 'customer/17')
 */
export async function openManaged(blob: string, key: SealingKey, context = ''): Promise<Bytes> {
  return open('ce1', blob, key, contextAad(key, context))
}

/**
 * Makes a fresh data key and wraps it: `dk1.<keyId>.<version>.<iv>.<ciphertext and tag>`. The caller encrypts data with
 * it by other means.
 *
 * @param lengthBytes 1 to 1,024. Default: 32.
 * @throws CryptoError `invalid_argument`.
 * @example const { plaintext, wrapped } = await newDataKey(sealingKey)
 */
export async function newDataKey(key: SealingKey, lengthBytes = 32): Promise<{ plaintext: Bytes; wrapped: string }> {
  if (!Number.isInteger(lengthBytes) || lengthBytes < 1 || lengthBytes > 1024)
    throw new CryptoError('invalid_argument', 'a data key must have 1 to 1,024 bytes')
  const plaintext = randomBytes(lengthBytes)
  return { plaintext, wrapped: await seal('dk1', plaintext, key, versionAad(key)) }
}

/**
 * Opens a wrapped data key.
 *
 * @throws The errors of {@link openManaged}.
 * @example const plaintext = await openDataKey(blob, sealingKey)
 */
export async function openDataKey(wrapped: string, key: SealingKey): Promise<Bytes> {
  return open('dk1', wrapped, key, versionAad(key))
}

async function seal(prefix: 'ce1' | 'dk1', plaintext: Bytes, key: SealingKey, aad: Bytes): Promise<string> {
  const { iv, ciphertext } = await sealGcm(key.key, plaintext, aad)
  return formatBlob(prefix, [key.keyId, String(key.version), iv, ciphertext])
}

async function open(prefix: 'ce1' | 'dk1', blob: string, key: SealingKey, aad: Bytes): Promise<Bytes> {
  const { keyId, version } = versionOf(blob, prefix)
  if (keyId !== key.keyId || version !== key.version)
    throw new CryptoError('decryption_failed', 'another key or version encrypted it')
  const [, , iv, ciphertext] = splitBlob(blob, prefix) as [string, string, string, string]
  return openGcm(key.key, decodeBase64url(iv, 'malformed_blob'), decodeBase64url(ciphertext, 'malformed_blob'), aad)
}

/** Neither the id nor the version contains a slash, so no context can look like another key's. */
const versionAad = ({ keyId, version }: KeyVersion): Bytes => encodeUtf8(`${keyId}/${version}`)
const contextAad = ({ keyId, version }: KeyVersion, context: string): Bytes =>
  encodeUtf8(`${keyId}/${version}/${context}`)
