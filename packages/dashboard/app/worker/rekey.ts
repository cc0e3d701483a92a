import type { Bytes } from '@skerry/crypto/base64url'
import { openDetails, sealDetails } from '@skerry/crypto/details'
import { fingerprint } from '@skerry/crypto/digest'
import { CryptoError } from '@skerry/crypto/errors'
import { fingerprintWords } from '@skerry/crypto/fingerprint-words'
import { type Dek, importDek, newDek, sealSecret } from '@skerry/crypto/secret'
import { unwrapKey, wrapKey } from '@skerry/crypto/wrap'
import { type ListedBranch, manifestOfNew, renewedManifests } from '@skerry/sdk/internal/directory/manifests'
import { findRekeyProblems, type RekeyProblem, type SealedEnvironment } from '@skerry/sdk/internal/rekey-compare'
import { requireCommitted, sealingDekOf } from './committed.ts'
import { dekOf } from './deks.ts'
import { type Covered, wrapNew } from './grants.ts'
import { heldKey } from './held.ts'
import type { SealedLayer } from './layers.ts'
import { openNamed } from './open-named.ts'

type To = Covered & { publicKeyJwks: string[] }

/** Wraps a key to this person, to the recovery key, and to others in the given order. */
const wrapToAll = async (dek: ReturnType<typeof newDek>, { publicKeyJwks, recoveryPublicKeyJwk }: To) => ({
  ...(await wrapNew(dek, recoveryPublicKeyJwk)),
  wrappedDeks: await Promise.all(publicKeyJwks.map((publicKeyJwk) => wrapKey(dek, publicKeyJwk))),
})

export const rekeyOperations = {
  /**
   * Returns public keys as words, which people compare, and as fingerprints, which this browser remembers. Needs no
   * private key.
   */
  fingerprints: ({ publicKeyJwks }: { publicKeyJwks: string[] }) =>
    Promise.all(
      publicKeyJwks.map(async (publicKeyJwk) => ({
        fingerprint: await fingerprint(publicKeyJwk),
        words: await fingerprintWords(publicKeyJwk),
      })),
    ),

  /** Creates a branch's key and its manifest. Wraps the key to this person and to others in the given order. */
  newBranchKey: async ({ branch, ...to }: To & { branch: NewBranch }) => {
    const [environmentId, wrappedDek] = [branch.parentId, branch.parentWrappedDek]
    await requireCommitted({ environmentId, wrappedDek })
    const bytes = newDek()
    const parent = { envId: branch.parentId, key: await unwrapKey(branch.parentWrappedDek, heldKey()) }
    return { ...(await manifestOfNew(parent, branch, bytes)), ...(await wrapToAll(bytes, to)) }
  },

  /** Creates a new key for an environment, seals every value under it, and wraps it to this person and to others. */
  rekey: async ({ layer, details, family, ...to }: To & Rekeying) => {
    const old = await sealingDekOf(layer)
    const bytes = newDek()
    const fresh = await importDek(bytes)
    const secrets = await Promise.all(
      layer.secrets.map(async ({ name, ciphertext }) => {
        const value = await openNamed(ciphertext, old, layer.environmentId, name)
        return { name, ciphertext: await sealSecret(value, fresh, layer.environmentId, name) }
      }),
    )
    const described = await Promise.all(details.map((one) => resealed(one, old, fresh, layer.environmentId)))
    const manifests = await manifestsOf(layer, family, bytes)
    return { secrets, details: described, manifests, ...(await wrapToAll(bytes, to)) }
  },

  /** Compares an environment with its proposed re-key. Returns what is not the same. */
  compareRekey: async ({ environmentId, now, proposed }: RekeySides): Promise<RekeyProblem[]> =>
    findRekeyProblems(
      environmentId,
      { key: await dekOf(now.wrappedDek), sealed: now },
      { key: await dekOf(proposed.wrappedDek), sealed: proposed },
    ),
}

interface NewBranch {
  parentId: string
  parentWrappedDek: string
  slug: string
  ttlSeconds: number | null
}

/** The branches whose manifests a re-key makes anew: those of the environment, or of its parent. */
interface Family {
  /** Null if the environment is no branch. */
  parent: { id: string; wrappedDek: string } | null
  branches: readonly ListedBranch[]
}

interface Rekeying {
  layer: SealedLayer
  details: Described[]
  family: Family
}

async function manifestsOf({ environmentId, wrappedDek }: SealedLayer, { parent, branches }: Family, next: Bytes) {
  if (branches.length === 0) return []
  const above = parent ? await unwrapKey(parent.wrappedDek, heldKey()) : undefined
  const keys = { old: await unwrapKey(wrappedDek, heldKey()), next, above }
  return renewedManifests(branches, { envId: environmentId, parent: parent?.id ?? null, keys })
}

interface RekeySides {
  environmentId: string
  now: SealedEnvironment & { wrappedDek: string }
  proposed: SealedEnvironment & { wrappedDek: string }
}

/** The sealed description of a secret, and its revision. */
interface Described {
  name: string
  sealed: string
  revision: number
}

/** Seals a description under another key. A description that does not open is dropped, because nobody can read it. */
async function resealed({ name, sealed, revision }: Described, old: Dek, fresh: Dek, environmentId: string) {
  const opened = await openDetails(sealed, old, environmentId, name).catch((error) => {
    if (error instanceof CryptoError) return null
    throw error
  })
  return {
    name,
    sealed: opened && (await sealDetails(opened, fresh, environmentId, name)),
    expectedRevision: revision,
  }
}
