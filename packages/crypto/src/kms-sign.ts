import type { KmsSpec } from '@skerry/contract/kms/specs'
import { type Bytes, decodeBase64url, encodeBase64url } from './base64url.ts'
import { formatBlob, splitBlob } from './blob.ts'
import { sha256 } from './digest.ts'
import { CryptoError } from './errors.ts'
import { formatPublicKeyJwk, importPrivateKey, parsePublicKeyJwk } from './keys.ts'
import { type KeyVersion, versionOf } from './kms.ts'

/** Specs of keys that sign. */
export type SigningSpec = Exclude<KmsSpec, 'aes-256-gcm'>

/**
 * One version of a managed key that signs. `pkcs8` is the secret key itself, for code that signs with another library.
 */
export interface SigningKey extends KeyVersion {
  readonly spec: SigningSpec
  readonly key: CryptoKey
  readonly pkcs8: Bytes
  readonly publicKeyJwk: string
}

const imports = {
  'ecdsa-p256-sha256': { name: 'ECDSA', namedCurve: 'P-256' },
  ed25519: { name: 'Ed25519' },
} as const

const operations = {
  'ecdsa-p256-sha256': { name: 'ECDSA', hash: 'SHA-256' },
  ed25519: { name: 'Ed25519' },
} as const

/**
 * The length of a signature, which is the same for both algorithms: IEEE P1363 r||s for ECDSA, and RFC 8032 for
 * Ed25519.
 */
const signatureLengthBytes = 64

/**
 * Makes a fresh key pair. Wrap the PKCS8 to everyone who may sign, then discard it.
 *
 * @example const { pkcs8, publicKeyJwk } = await newSigningMaterial('ecdsa-p256-sha256')
 */
export async function newSigningMaterial(spec: SigningSpec): Promise<{ pkcs8: Bytes; publicKeyJwk: string }> {
  const pair = (await crypto.subtle.generateKey(imports[spec], true, ['sign', 'verify'])) as CryptoKeyPair
  const pkcs8 = new Uint8Array(await crypto.subtle.exportKey('pkcs8', pair.privateKey))
  const jwk = await crypto.subtle.exportKey('jwk', pair.publicKey)
  return { pkcs8, publicKeyJwk: formatVerifyingKey(spec, JSON.stringify({ ...jwk, key_ops: undefined })) }
}

/**
 * Imports the PKCS8 of one version as a signing key, and derives its public half.
 *
 * @throws CryptoError `malformed_key` for anything but a private key of this spec.
 * @example
 * const { pkcs8 } = await newSigningMaterial('ed25519')
 * const key = await importSigningKey('ed25519', pkcs8, { keyId: 'kms_...', version: 1 })
 */
export async function importSigningKey(
  spec: SigningSpec,
  pkcs8: Bytes,
  { keyId, version }: KeyVersion,
): Promise<SigningKey> {
  const publicKeyJwk = await publicHalf(spec, pkcs8)
  const key = await crypto.subtle.importKey('pkcs8', pkcs8, imports[spec], false, ['sign'])
  return { keyId, version, spec, key, pkcs8, publicKeyJwk }
}

async function publicHalf(spec: SigningSpec, pkcs8: Bytes): Promise<string> {
  if (spec === 'ecdsa-p256-sha256') return formatPublicKeyJwk((await importPrivateKey(pkcs8)).point)
  try {
    const key = await crypto.subtle.importKey('pkcs8', pkcs8, imports[spec], true, ['sign'])
    const { x } = await crypto.subtle.exportKey('jwk', key)
    return JSON.stringify({ crv: 'Ed25519', kty: 'OKP', x })
  } catch {
    throw new CryptoError('malformed_key', 'expected an Ed25519 private key in PKCS8 format')
  }
}

/**
 * Writes a public key in one spelling: the required members in lexicographic order, as RFC 7638 hashes them.
 *
 * @throws CryptoError `malformed_key` for a key of another spec, one with a private member, or a point off the curve.
 * @example formatVerifyingKey('ed25519', '{"kty":"OKP","crv":"Ed25519","x":"...","ext":true}')
 */
export function formatVerifyingKey(spec: SigningSpec, publicKeyJwk: string): string {
  if (spec === 'ecdsa-p256-sha256') return formatPublicKeyJwk(parsePublicKeyJwk(publicKeyJwk))
  let jwk: Record<string, unknown>
  try {
    jwk = { ...JSON.parse(publicKeyJwk) }
  } catch {
    throw new CryptoError('malformed_key', 'expected a JWK in JSON format')
  }
  if (Object.hasOwn(jwk, 'd'))
    throw new CryptoError('malformed_key', 'a public key must not contain the private part (d)')
  const { kty, crv, x } = jwk
  if (kty !== 'OKP' || crv !== 'Ed25519') throw new CryptoError('malformed_key', 'expected kty OKP, crv Ed25519')
  if (decodeBase64url(x as string, 'malformed_key').length !== 32)
    throw new CryptoError('malformed_key', 'a coordinate must have 32 bytes')
  return JSON.stringify({ crv, kty, x })
}

/**
 * Computes the RFC 7638 thumbprint of a public key, base64url, 43 characters.
 *
 * @throws CryptoError `malformed_key`.
 * @example await verifyingKeyFingerprint('ed25519', publicKeyJwk) === remembered
 */
export async function verifyingKeyFingerprint(spec: SigningSpec, publicKeyJwk: string): Promise<string> {
  return encodeBase64url(await sha256(new TextEncoder().encode(formatVerifyingKey(spec, publicKeyJwk))))
}

/**
 * Signs a message: 64 bytes, IEEE P1363 for ECDSA.
 *
 * @example
 * const key = await importSigningKey('ed25519', pkcs8, { keyId: 'kms_...', version: 1 })
 * const blob = formatSignature(key, await signMessage(message, key))
 */
export async function signMessage(message: Bytes, { spec, key }: SigningKey): Promise<Bytes> {
  return new Uint8Array(await crypto.subtle.sign(operations[spec], key, message))
}

/**
 * Whether a signature of 64 bytes was made by this key over this message.
 *
 * @throws CryptoError `malformed_key` for the public key.
 * @example const isTrue = await verifyMessage(message, signature, { spec: 'ed25519', publicKeyJwk })
 */
export async function verifyMessage(
  message: Bytes,
  signature: Bytes,
  { spec, publicKeyJwk }: Pick<SigningKey, 'spec' | 'publicKeyJwk'>,
): Promise<boolean> {
  const jwk = JSON.parse(formatVerifyingKey(spec, publicKeyJwk))
  const key = await crypto.subtle.importKey('jwk', jwk, imports[spec], false, ['verify'])
  return crypto.subtle.verify(operations[spec], key, signature, message)
}

/**
 * Writes the bytes of a signature as a blob: `sg1.<keyId>.<version>.<signature>`.
 *
 * @example formatSignature({ keyId: 'kms_...', version: 1 }, signature)
 */
export const formatSignature = ({ keyId, version }: KeyVersion, signature: Bytes): string =>
  formatBlob('sg1', [keyId, String(version), signature])

/**
 * Parses a signature blob into its key, version and 64 bytes.
 *
 * @throws CryptoError `unsupported_prefix`, `malformed_blob`.
 * @example const { keyId, version, signature } = parseSignature(blob)
 */
export function parseSignature(blob: string): KeyVersion & { signature: Bytes } {
  const made = versionOf(blob, 'sg1')
  const signature = decodeBase64url(splitBlob(blob, 'sg1')[2] as string, 'malformed_blob')
  if (signature.length !== signatureLengthBytes)
    throw new CryptoError('malformed_blob', 'a signature must have 64 bytes')
  return { ...made, signature }
}
