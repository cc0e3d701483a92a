import { type Bytes, encodeBase64url } from './base64url.ts'
import { formatBlob, parseBlob, splitBlob } from './blob.ts'
import { CryptoError } from './errors.ts'
import { importAesKey, openGcm, sealGcm } from './gcm.ts'
import { hkdf } from './hkdf.ts'
import { generateKeyPair, importPublicPoint, type PrivateKey, parsePublicKeyJwk } from './keys.ts'
import { isUncompressedPoint } from './p256.ts'
import { randomBytes } from './random.ts'

/**
 * Part of the published wd1 format, not a name of Skerry: every client of the format derives under this label. If it
 * changed, existing grants would be unreadable.
 */
const wrapInfo = 'seekrit/wrap-dek/v1'

/**
 * Published clients write 16 bytes, and so does Skerry. HKDF pads a salt with zeros, so any other length would be a
 * respelling.
 */
const saltLengthBytes = 16

/** The published format authenticates no context: a wd1 blob is bound to its reader, not to an environment. */
const noAad: Bytes = new Uint8Array(0)

/**
 * Wraps key bytes to a principal's public key: `wd1.<ephemeral point>.<salt>.<iv>.<ciphertext and tag>`. An ephemeral
 * P-256 key agrees on a shared point with the reader's key. HKDF-SHA256 derives the AES-256-GCM key of this one blob
 * from its X coordinate.
 *
 * Two calls never give the same blob. The blob does not prove who made it: anyone who knows the public key can wrap to
 * it.
 *
 * @param bytes the key to wrap: 32 bytes for an environment's DEK, or for example a PKCS8; not empty.
 * @param publicKeyJwk the reader's public key, a string that contains JWK JSON.
 * @throws CryptoError `malformed_key` for the public key, `invalid_argument` for no bytes.
 * @example const wrappedDek = await wrapKey(newDek(), publicKeyJwk)
 */
export async function wrapKey(bytes: Bytes, publicKeyJwk: string): Promise<string> {
  if (bytes.length === 0) throw new CryptoError('invalid_argument', 'no bytes to wrap')
  const reader = await importPublicPoint(parsePublicKeyJwk(publicKeyJwk))
  const { privateKey: ephemeral } = await generateKeyPair()
  return wrapFrom(ephemeral, reader, bytes)
}

/**
 * Wraps key bytes to a person's own public key so that the blob proves that they made it. The sender's key is their own
 * key instead of an ephemeral one, so nobody can make such a blob without the private key.
 *
 * @throws CryptoError `invalid_argument` for no bytes, or for a holder that only opens blobs.
 * @example const wrappedKey = await wrapToSelf(newDek(), privateKey)
 */
export async function wrapToSelf(bytes: Bytes, holder: KeyHolder): Promise<string> {
  if (bytes.length === 0) throw new CryptoError('invalid_argument', 'no bytes to wrap')
  if (!('unwrap' in holder)) return wrapFrom(holder, await importPublicPoint(holder.point), bytes)
  if (!holder.wrapToSelf) throw new CryptoError('invalid_argument', 'this holder only opens blobs')
  return holder.wrapToSelf(bytes)
}

/**
 * Opens a blob of {@link wrapToSelf}, and refuses every other one: a blob with an ephemeral key can be anybody's.
 *
 * @returns the wrapped bytes.
 * @throws CryptoError `decryption_failed` for a blob that the holder did not make; the errors of {@link unwrapKey}.
 * @example
 * const wrappedKey = await wrapToSelf(newDek(), privateKey)
 * const bytes = await unwrapOwn(wrappedKey, privateKey)
 */
export async function unwrapOwn(blob: string, holder: KeyHolder): Promise<Bytes> {
  const [sender] = splitBlob(blob, 'wd1')
  if (sender !== encodeBase64url(holder.point)) throw new CryptoError('decryption_failed')
  return unwrapKey(blob, holder)
}

async function wrapFrom(sender: PrivateKey, reader: CryptoKey, bytes: Bytes): Promise<string> {
  const salt = randomBytes(saltLengthBytes)
  const key = await wrappingKey(sender.key, reader, salt)
  const { iv, ciphertext } = await sealGcm(key, bytes, noAad)
  return formatBlob('wd1', [sender.point, salt, iv, ciphertext])
}

/**
 * An object that unwraps the keys that were wrapped for one public key. It is a private key in this process, or an
 * object that asks another process or a hardware token to unwrap keys.
 */
export type KeyHolder = PrivateKey | RemoteKey

/** A private key in another process or device, for example in an agent or a hardware token. */
export interface RemoteKey {
  /** The public key: an uncompressed SEC1 point of P-256, 65 bytes. */
  readonly point: Bytes
  /**
   * Unwraps a wrapped key (a text that begins with `wd1.`), and returns the key. An environment key has 32 bytes.
   *
   * @throws CryptoError `unsupported_prefix`, `malformed_blob`, `decryption_failed`.
   */
  unwrap(blob: string): Promise<Bytes>
  /**
   * Wraps a key for this object's own public key. Nobody can make the result without the private key, so the result
   * proves who made it. The SDK needs this function to store personal overrides. An object that can only unwrap keys
   * does not have it.
   */
  wrapToSelf?(bytes: Bytes): Promise<string>
}

/**
 * Opens a `wd1.` blob with the private key that it was wrapped to.
 *
 * The ephemeral point must be uncompressed and on the curve, the salt must have 16 bytes and the IV 12. Otherwise
 * nothing is derived. Only X of a point enters the derivation, so the opposite point opens the same bytes: do not use a
 * blob as an identity.
 *
 * @returns the wrapped bytes.
 * @throws CryptoError `unsupported_prefix`, `malformed_blob`, `decryption_failed`.
 * @example const dek = await importDek(await unwrapKey(layer.wrappedDek, privateKey))
 */
export async function unwrapKey(blob: string, holder: KeyHolder): Promise<Bytes> {
  if ('unwrap' in holder) return holder.unwrap(blob)
  const [point, salt, iv, ciphertext] = parseBlob(blob, 'wd1') as [Bytes, Bytes, Bytes, Bytes]
  if (!isUncompressedPoint(point)) throw new CryptoError('malformed_blob', 'the ephemeral point is not on the curve')
  if (salt.length !== saltLengthBytes) throw new CryptoError('malformed_blob', 'a salt has 16 bytes')
  const key = await wrappingKey(holder.key, await importPublicPoint(point), salt)
  return openGcm(key, iv, ciphertext, noAad)
}

async function wrappingKey(own: CryptoKey, other: CryptoKey, salt: Bytes): Promise<CryptoKey> {
  const shared = new Uint8Array(await crypto.subtle.deriveBits({ name: 'ECDH', public: other }, own, 256))
  return importAesKey(await hkdf(shared, salt, wrapInfo, 32))
}
