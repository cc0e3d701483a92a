import type { Bytes } from '@skerry/crypto/base64url'
import { publicKeyJwkOf } from '@skerry/crypto/keys'
import { newDek } from '@skerry/crypto/secret'
import { unwrapKey, wrapKey } from '@skerry/crypto/wrap'
import { fingerprintOf } from '@skerry/sdk/internal/known-state-compare'
import { heldKey } from './held.ts'

/** With the organization's recovery key, or null. */
export interface Covered {
  recoveryPublicKeyJwk: string | null
}

/** What a new key is stored as: for this person, and for custodians. */
export async function wrapNew(dek: Bytes, recoveryPublicKeyJwk: string | null) {
  const wrappedDek = await wrapKey(dek, publicKeyJwkOf(heldKey()))
  if (recoveryPublicKeyJwk === null) return { wrappedDek }
  return { wrappedDek, recoveryWrappedDek: await wrapKey(dek, recoveryPublicKeyJwk) }
}

export const grantOperations = {
  /** A new environment's key, wrapped to this person and to the recovery key, where there is one. */
  newEnvironmentKey: ({ recoveryPublicKeyJwk }: Covered) => wrapNew(newDek(), recoveryPublicKeyJwk),

  /** Tells an environment's key from the one after a re-key, and nothing of it. */
  environmentKeyId: async ({ wrappedDek }: { wrappedDek: string }) =>
    fingerprintOf(await unwrapKey(wrappedDek, heldKey())),

  /** Wraps an environment's key to others, in their order. */
  wrapForOthers: async ({ wrappedDek, publicKeyJwks }: { wrappedDek: string; publicKeyJwks: string[] }) => {
    const dek = await unwrapKey(wrappedDek, heldKey())
    return Promise.all(publicKeyJwks.map((publicKeyJwk) => wrapKey(dek, publicKeyJwk)))
  },
}
