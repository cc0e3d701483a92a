import { CryptoError } from '@skerry/crypto/errors'
import { openWithKitCode, sealWithKitCode } from '@skerry/crypto/keyring'
import { formatPublicKeyJwk, type PrivateKey, parsePublicKeyJwk, publicKeyJwkOf } from '@skerry/crypto/keys'
import { newKitCode, parseKitCode } from '@skerry/crypto/kit-code'
import type { Client } from './client.ts'

/** The owner of a recovery kit. */
interface KitOwner {
  /** The id of the person. */
  userId: string
  /** The public key of the person, a JWK as a JSON string. `client.me.getKeys()` returns it. */
  publicKeyJwk: string
}

/**
 * Makes a recovery kit: a code with which the caller can get their private key back without the passphrase. The server
 * stores the private key encrypted with the code, and never gets the code. The code of an earlier kit of this person
 * then no longer works.
 *
 * @param owner the caller (second argument), with the public key that belongs to `privateKey`.
 * @param privateKey the private key of the caller. It must be exportable.
 * @returns the code: 28 letters and digits in seven groups of four, with hyphens between the groups. Show it once, so
 *   that the person can print it.
 * @throws CryptoError `invalid_argument` if the public key and the private key do not belong together, or if the
 *   private key is not exportable; RefusedError `mfa_required` if the person must enter the second factor again,
 *   `conflict` if the key pair was replaced at the same time; UnavailableError.
 * @example const code = await makeRecoveryKit(client, { userId, publicKeyJwk }, privateKey)
 */
export async function makeRecoveryKit(
  client: Client,
  { userId, publicKeyJwk }: KitOwner,
  privateKey: PrivateKey,
): Promise<string> {
  // A kit that is bound to another public key could never be opened, and would replace one that can.
  if (publicKeyJwkOf(privateKey) !== formatPublicKeyJwk(parsePublicKeyJwk(publicKeyJwk)))
    throw new CryptoError('invalid_argument', 'the private key belongs to another public key')
  const code = await newKitCode()
  const encryptedPrivateKey = await sealWithKitCode(privateKey, code, userId)
  await client.recoveryKit.put({ body: { encryptedPrivateKey, publicKeyJwk } })
  return code
}

/**
 * Decrypts the private key of the caller with the code of their recovery kit. To set a new passphrase, encrypt the key
 * with `sealWithPassphrase`, and store it with `client.me.patchKeys`.
 *
 * @param owner.publicKeyJwk the public key of the caller (in the second argument). If the private key in the kit does
 *   not belong to this public key, the function throws an error.
 * @param code the code as the person typed it.
 * @param options.extractable if true, the returned key can be exported, for example to encrypt it with a new
 *   passphrase.
 * @returns the private key, or null if the caller has no kit.
 * @throws CryptoError `malformed_code` if the code was mistyped (no request was sent), `decryption_failed` if the code
 *   is for another kit, or if the kit is for another key pair; UnavailableError.
 * @example const opened = await openRecoveryKit(client, { userId, publicKeyJwk }, kitCode, { extractable: true })
 */
export async function openRecoveryKit(
  client: Client,
  { userId, publicKeyJwk }: KitOwner,
  code: string,
  options: { extractable?: boolean } = {},
): Promise<PrivateKey | null> {
  await parseKitCode(code)
  const { kit } = await client.recoveryKit.get()
  if (kit === null) return null
  const privateKey = await openWithKitCode(kit.encryptedPrivateKey, code, { userId, publicKeyJwk }, options)
  if (publicKeyJwkOf(privateKey) === formatPublicKeyJwk(parsePublicKeyJwk(publicKeyJwk))) return privateKey
  throw new CryptoError('decryption_failed', 'the key in the recovery kit belongs to another public key')
}
