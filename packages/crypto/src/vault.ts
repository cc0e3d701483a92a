import { type VaultPlace, vaultAad, vaultRegistrationText } from '@skerry/contract/vault/facts'
import { type Bytes, decodeUtf8, encodeBase64url, encodeUtf8 } from './base64url.ts'
import { formatBlob, parseBlob } from './blob.ts'
import { aesKeyLengthBytes, importAesKey, openGcm, sealGcm } from './gcm.ts'
import { exportPrivateKey, type PrivateKey } from './keys.ts'
import { randomBytes } from './random.ts'
import { type KeyHolder, unwrapKey, wrapKey } from './wrap.ts'

/** A credential of the vault, as it is stored. */
export interface SealedCredential {
  /** `sc1.` under a key of its own. */
  ciphertext: string
  /** The key of the ciphertext, wrapped (`wd1.`) to a key of the executor. */
  wrappedDek: string
}

/**
 * Encrypts a credential to an executor, under a fresh AES-256 key. It decrypts only as this revision of this slot of
 * this connection.
 *
 * @param publicKeyJwk JWK JSON of one of the executor's live keys
 * @throws CryptoError `malformed_key`, `malformed_text`.
 * @example
 * const place = { projectId: 'vpj_...', connectionId, providerId: 'acme', slot: 'api_key', revision: 1 } as const
 * const sealed = await sealCredential('sk-1', place, publicKeyJwk)
 */
export async function sealCredential(text: string, place: VaultPlace, publicKeyJwk: string): Promise<SealedCredential> {
  const dek = randomBytes(aesKeyLengthBytes)
  const { iv, ciphertext } = await sealGcm(await importAesKey(dek), encodeUtf8(text), encodeUtf8(vaultAad(place)))
  return { ciphertext: formatBlob('sc1', [iv, ciphertext]), wrappedDek: await wrapKey(dek, publicKeyJwk) }
}

/**
 * Decrypts a credential that was encrypted to this key.
 *
 * @throws CryptoError `unsupported_prefix`, `malformed_blob`, `decryption_failed` (another key or place, or altered bytes).
 * @example
 * const place = { projectId: 'vpj_...', connectionId, providerId: 'acme', slot: 'api_key', revision: 1 } as const
 * const sealed = await sealCredential('sk-1', place, publicKeyJwk)
 * const text = await openCredential(sealed, place, privateKey) // 'sk-1'
 */
export async function openCredential(sealed: SealedCredential, place: VaultPlace, holder: KeyHolder): Promise<string> {
  const key = await importAesKey(await unwrapKey(sealed.wrappedDek, holder))
  const [iv, ciphertext] = parseBlob(sealed.ciphertext, 'sc1') as [Bytes, Bytes]
  return decodeUtf8(await openGcm(key, iv, ciphertext, encodeUtf8(vaultAad(place))))
}

/**
 * Proves to the server that a registering executor has the private half of its wrapping key. The key also opens
 * credentials. The two uses share no input, because the signed text begins with its purpose.
 *
 * @param privateKey must be exportable, because platforms bind a key to one use.
 * @returns base64url of 64 bytes: r and s of ECDSA P-256 with SHA-256.
 * @throws CryptoError `invalid_argument` for a key that was not made exportable.
 * @example const proof = await signRegistration(privateKey, 'vrc_...', 'https://executor.example.com')
 */
export async function signRegistration(privateKey: PrivateKey, code: string, origin: string): Promise<string> {
  const ecdsa = { name: 'ECDSA', namedCurve: 'P-256', hash: 'SHA-256' }
  const key = await crypto.subtle.importKey('pkcs8', await exportPrivateKey(privateKey), ecdsa, false, ['sign'])
  const signature = await crypto.subtle.sign(ecdsa, key, encodeUtf8(vaultRegistrationText(code, origin)))
  return encodeBase64url(new Uint8Array(signature))
}
