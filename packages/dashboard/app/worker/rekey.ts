import { fingerprint } from '@skerry/crypto/digest'
import { fingerprintWords } from '@skerry/crypto/fingerprint-words'
import { publicKeyJwkOf } from '@skerry/crypto/keys'
import { importDek, newDek, openSecret, sealSecret } from '@skerry/crypto/secret'
import { wrapKey } from '@skerry/crypto/wrap'
import { dekOf } from './deks.ts'
import { heldKey } from './held.ts'
import type { SealedLayer } from './layers.ts'

const wrapToAll = (dek: ReturnType<typeof newDek>, publicKeyJwks: string[]) =>
  Promise.all(publicKeyJwks.map((publicKeyJwk) => wrapKey(dek, publicKeyJwk)))

export const rekeyOperations = {
  /** Keys as people compare them (words) and as this browser remembers them (fingerprint). Needs no private key. */
  fingerprints: ({ publicKeyJwks }: { publicKeyJwks: string[] }) =>
    Promise.all(
      publicKeyJwks.map(async (publicKeyJwk) => ({
        fingerprint: await fingerprint(publicKeyJwk),
        words: await fingerprintWords(publicKeyJwk),
      })),
    ),

  /** A branch's key, wrapped to this person and to others in their order. */
  newBranchKey: async ({ publicKeyJwks }: { publicKeyJwks: string[] }) => {
    const dek = newDek()
    const wrappedDek = await wrapKey(dek, publicKeyJwkOf(heldKey()))
    return { wrappedDek, wrappedDeks: await wrapToAll(dek, publicKeyJwks) }
  },

  /** Another key for an environment: every value sealed anew, the key wrapped to each of these in their order. */
  rekey: async ({ layer, publicKeyJwks }: { layer: SealedLayer; publicKeyJwks: string[] }) => {
    const old = await dekOf(layer.wrappedDek)
    const bytes = newDek()
    const fresh = await importDek(bytes)
    const secrets = await Promise.all(
      layer.secrets.map(async ({ name, ciphertext }) => {
        const value = await openSecret(ciphertext, old, layer.environmentId, name)
        return { name, ciphertext: await sealSecret(value, fresh, layer.environmentId, name) }
      }),
    )
    return { secrets, wrappedDeks: await wrapToAll(bytes, publicKeyJwks) }
  },
}
