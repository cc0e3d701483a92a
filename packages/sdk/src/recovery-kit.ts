import { CryptoError } from '@skerry/crypto/errors'
import { openWithKitCode, sealWithKitCode } from '@skerry/crypto/keyring'
import { formatPublicKeyJwk, type PrivateKey, parsePublicKeyJwk, publicKeyJwkOf } from '@skerry/crypto/keys'
import { newKitCode } from '@skerry/crypto/kit-code'
import type { Client } from './client.ts'

/** A person, and the public key that the server shows for them (`client.me.getKeys()`). */
interface KitOwner {
  userId: string
  publicKeyJwk: string
}

/**
 * Makes a recovery kit: a code that opens the keyring of the caller. The server stores the private key sealed under the
 * code, and never gets the code. An earlier kit stops working.
 *
 * @param privateKey must be exportable.
 * @returns the code, 28 characters in groups of four. Show it once, for the person to print.
 * @throws RefusedError `mfa_required` if the second factor is not fresh, `conflict` if the key pair was replaced
 *   meanwhile; CryptoError `invalid_argument`.
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
 * Opens the keyring of the caller with the code of their recovery kit. To set a new passphrase, seal the key with
 * `sealWithPassphrase` and store it with `client.me.patchKeys`.
 *
 * @param owner.publicKeyJwk the public key that the caller knows. A key of another key pair is refused.
 * @param code as the person typed it.
 * @returns the private key; null if no kit is stored.
 * @throws CryptoError `malformed_code` (mistyped; nothing was sent), `decryption_failed` (the code of another kit).
 * @example const opened = await openRecoveryKit(client, { userId, publicKeyJwk }, kitCode, { extractable: true })
 */
export async function openRecoveryKit(
  client: Client,
  { userId, publicKeyJwk }: KitOwner,
  code: string,
  options: { extractable?: boolean } = {},
): Promise<PrivateKey | null> {
  const { kit } = await client.recoveryKit.get()
  if (kit === null) return null
  const privateKey = await openWithKitCode(kit.encryptedPrivateKey, code, { userId, publicKeyJwk }, options)
  if (publicKeyJwkOf(privateKey) === formatPublicKeyJwk(parsePublicKeyJwk(publicKeyJwk))) return privateKey
  throw new CryptoError('decryption_failed', 'the key in the recovery kit belongs to another public key')
}
