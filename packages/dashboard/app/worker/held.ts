import { CryptoError } from '@skerry/crypto/errors'
import type { PrivateKey } from '@skerry/crypto/keys'

let held: PrivateKey | undefined

/** Keeps the private key until this worker ends. */
export function hold(privateKey: PrivateKey): void {
  held = privateKey
}

export function heldKey(): PrivateKey {
  if (!held) throw new CryptoError('invalid_argument', 'the keyring is locked')
  return held
}
