import type { Bytes } from '@skerry/crypto/base64url'
import { publicKeyJwkOf } from '@skerry/crypto/keys'
import { newDek } from '@skerry/crypto/secret'
import { unwrapKey, wrapKey } from '@skerry/crypto/wrap'
import { fingerprintOf } from '@skerry/sdk/internal/known-state-compare'
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

export const grantOperations = {
  /** Creates an environment's key, wrapped to this person and, if there is one, to the recovery key. */
  newEnvironmentKey: ({ recoveryPublicKeyJwk }: Covered) => wrapNew(newDek(), recoveryPublicKeyJwk),

  /** Identifies an environment's key without revealing it. A re-key changes the result. */
  environmentKeyId: async ({ wrappedDek }: { wrappedDek: string }) =>
    fingerprintOf(await unwrapKey(wrappedDek, heldKey())),

  /** Wraps an environment's key to others, in the given order. */
  wrapForOthers: async ({ wrappedDek, publicKeyJwks }: { wrappedDek: string; publicKeyJwks: string[] }) => {
    const dek = await unwrapKey(wrappedDek, heldKey())
    return Promise.all(publicKeyJwks.map((publicKeyJwk) => wrapKey(dek, publicKeyJwk)))
  },
}
