import type { Bytes } from '@skerry/crypto/base64url'
import { fingerprint } from '@skerry/crypto/digest'
import { CryptoError } from '@skerry/crypto/errors'
import { publicKeyJwkOf } from '@skerry/crypto/keys'
import { newDek } from '@skerry/crypto/secret'
import { unwrapKey, wrapKey } from '@skerry/crypto/wrap'
import { fingerprintOf } from '@skerry/sdk/internal/known-state-compare'
import { requireCommitted } from './committed.ts'
import { heldKey } from './held.ts'

/** Input with the organization's recovery public key, or null if there is none. */
export interface Covered {
  recoveryPublicKeyJwk: string | null
}

/** Wraps a new key to this person and, if there is one, to the recovery key. */
export async function wrapNew(dek: Bytes, recoveryPublicKeyJwk: string | null) {
  const wrappedDek = await wrapKey(dek, publicKeyJwkOf(heldKey()))
  if (recoveryPublicKeyJwk === null) return { wrappedDek }
  return { wrappedDek, recoveryWrappedDek: await wrapKey(dek, recoveryPublicKeyJwk) }
}

/** A receiver's public key, and the fingerprint that this browser remembers of it. */
interface Compared {
  publicKeyJwk: string
  fingerprint: string
}

/** The environment whose key is wrapped, and this person's wrapped copy of it. */
interface Wrapping {
  environmentId: string
  wrappedDek: string
}

export const grantOperations = {
  /** Creates an environment's key, wrapped to this person and, if there is one, to the recovery key. */
  newEnvironmentKey: ({ recoveryPublicKeyJwk }: Covered) => wrapNew(newDek(), recoveryPublicKeyJwk),

  /** Identifies an environment's key without revealing it. A re-key changes the result. */
  environmentKeyId: async ({ wrappedDek }: { wrappedDek: string }) =>
    fingerprintOf(await unwrapKey(wrappedDek, heldKey())),

  /** Wraps an environment's key to others, in the given order. */
  wrapForOthers: async ({ environmentId, wrappedDek, publicKeyJwks }: Wrapping & { publicKeyJwks: string[] }) => {
    await requireCommitted({ environmentId, wrappedDek })
    const dek = await unwrapKey(wrappedDek, heldKey())
    return Promise.all(publicKeyJwks.map((publicKeyJwk) => wrapKey(dek, publicKeyJwk)))
  },

  /**
   * Wraps an environment's key to others whose keys were compared, in the given order. Wraps nothing if one of the public
   * keys is not the one with the remembered fingerprint.
   */
  wrapForCompared: async ({ environmentId, wrappedDek, receivers }: Wrapping & { receivers: Compared[] }) => {
    await requireCommitted({ environmentId, wrappedDek })
    const fingerprints = await Promise.all(receivers.map(({ publicKeyJwk }) => fingerprint(publicKeyJwk)))
    if (receivers.some((one, i) => one.fingerprint !== fingerprints[i]))
      throw new CryptoError('invalid_argument', 'a public key differs from the one that was compared')
    const dek = await unwrapKey(wrappedDek, heldKey())
    return Promise.all(receivers.map(({ publicKeyJwk }) => wrapKey(dek, publicKeyJwk)))
  },
}
