import { fingerprint } from '@skerry/crypto/digest'
import type { RootBody } from '@skerry/crypto/directory/root'
import type { Client } from '../client.ts'
import { fetchEntries, type OrgTrust } from './entries.ts'

/**
 * The recovery key that the server shows, compared with the one that the newest root names. Only a `signed` key may receive
 * keys of environments.
 *
 * - `none`: neither names a key.
 * - `signed`: both name the same key.
 * - `unsigned`: the server shows a key, and nobody has signed one.
 * - `differs`: the server shows another key than the root.
 * - `hidden`: the root names a key, and the server shows none.
 */
export type RecoveryKeyState = 'none' | 'signed' | 'unsigned' | 'differs' | 'hidden'

/**
 * Compares a recovery key with a verified root.
 *
 * @throws CryptoError `malformed_key`.
 * @example
 * const { recoveryPublicKeyJwk } = await client.recovery.publicKey({ params: { orgId } })
 * const state = await compareRecoveryKey(signedDirectory.root.body, recoveryPublicKeyJwk)
 */
export async function compareRecoveryKey(
  { recovery }: Pick<RootBody, 'recovery'>,
  publicKeyJwk: string | null,
): Promise<RecoveryKeyState> {
  if (publicKeyJwk === null) return recovery === null ? 'none' : 'hidden'
  if (recovery === null) return 'unsigned'
  return (await fingerprint(publicKeyJwk)) === recovery ? 'signed' : 'differs'
}

/**
 * Fetches and verifies the newest root, and compares a recovery key with it.
 *
 * @throws the errors of `fetchEntries` and `compareRecoveryKey`.
 */
export async function checkRecoveryKey(
  client: Client,
  orgId: string,
  publicKeyJwk: string | null,
  trust: OrgTrust,
): Promise<{ state: RecoveryKeyState; root: RootBody }> {
  const { root } = (await fetchEntries(client, orgId, [], trust)).verified
  return { state: await compareRecoveryKey(root, publicKeyJwk), root }
}
