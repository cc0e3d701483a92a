import { KeyringError, keyring } from '../keyring.ts'
import { isSameKey } from './same-key.ts'

/**
 * Refuses a decrypted key that differs from the person's public key on the server. Others encrypt to that public key,
 * so the decrypted key must not be used.
 *
 * @throws KeyringError `wrong_key`. The keyring is then locked.
 */
export function checkOpened(opened: string, told: string): void {
  if (isSameKey(opened, told)) return
  keyring.lock()
  throw new KeyringError(
    'wrong_key',
    'this opened a different key than the one that the server shows to other people as yours',
  )
}
