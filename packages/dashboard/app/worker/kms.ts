import type { KmsSpec } from '@skerry/contract/kms/specs'
import { kmsSpecs } from '@skerry/contract/kms/specs'
import type { Bytes } from '@skerry/crypto/base64url'
import { publicKeyJwkOf } from '@skerry/crypto/keys'
import { materialFingerprint, newSealingMaterial } from '@skerry/crypto/kms'
import {
  importSigningKey,
  newSigningMaterial,
  type SigningSpec,
  verifyingKeyFingerprint,
} from '@skerry/crypto/kms-sign'
import { unwrapKey, wrapKey } from '@skerry/crypto/wrap'
import { heldKey } from './held.ts'

const wrapToAll = (bytes: Bytes, publicKeyJwks: string[]) =>
  Promise.all(publicKeyJwks.map((publicKeyJwk) => wrapKey(bytes, publicKeyJwk)))

export const kmsOperations = {
  /** Creates the material of a new version, wrapped to this person and to others in the given order. */
  newManagedKey: async ({ spec, publicKeyJwks }: { spec: KmsSpec; publicKeyJwks: string[] }) => {
    const isSigning = kmsSpecs[spec].purpose === 'sign'
    const signing = isSigning ? await newSigningMaterial(spec as SigningSpec) : null
    const bytes = signing?.pkcs8 ?? newSealingMaterial()
    return {
      fingerprint: signing
        ? await verifyingKeyFingerprint(spec as SigningSpec, signing.publicKeyJwk)
        : await materialFingerprint(bytes),
      publicKeyJwk: signing?.publicKeyJwk ?? null,
      wrappedKey: await wrapKey(bytes, publicKeyJwkOf(heldKey())),
      wrappedKeys: await wrapToAll(bytes, publicKeyJwks),
    }
  },

  /**
   * Wraps a version that this person holds to someone else. Also returns its fingerprint, which reveals nothing of the
   * key.
   */
  wrapManagedKey: async (input: { spec: KmsSpec; wrappedKey: string; publicKeyJwk: string }) => {
    const bytes = await unwrapKey(input.wrappedKey, heldKey())
    return { fingerprint: await fingerprintOf(input.spec, bytes), wrappedKey: await wrapKey(bytes, input.publicKeyJwk) }
  },
}

async function fingerprintOf(spec: KmsSpec, bytes: Bytes): Promise<string> {
  if (kmsSpecs[spec].purpose === 'encrypt') return materialFingerprint(bytes)
  const { publicKeyJwk } = await importSigningKey(spec as SigningSpec, bytes, { keyId: '', version: 1 })
  return verifyingKeyFingerprint(spec as SigningSpec, publicKeyJwk)
}
