import { publicKeyJwkOf } from '@skerry/crypto/keys'
import { newDek } from '@skerry/crypto/secret'
import { unwrapKey, wrapKey } from '@skerry/crypto/wrap'
import { heldKey } from './held.ts'

export const grantOperations = {
  /** A new environment's key, wrapped to this person alone. */
  newEnvironmentKey: async (_: Record<never, never>) => wrapKey(newDek(), publicKeyJwkOf(heldKey())),

  /** Wraps an environment's key to others, in their order. */
  wrapForOthers: async ({ wrappedDek, publicKeyJwks }: { wrappedDek: string; publicKeyJwks: string[] }) => {
    const dek = await unwrapKey(wrappedDek, heldKey())
    return Promise.all(publicKeyJwks.map((publicKeyJwk) => wrapKey(dek, publicKeyJwk)))
  },
}
