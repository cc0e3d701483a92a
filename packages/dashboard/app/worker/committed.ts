import { openBranchManifest } from '@skerry/crypto/directory/branch-manifest'
import { environmentKeyCommitment } from '@skerry/crypto/directory/commitments'
import { DirectoryError } from '@skerry/crypto/directory/refusal'
import { CryptoError } from '@skerry/crypto/errors'
import type { Dek } from '@skerry/crypto/secret'
import { unwrapKey } from '@skerry/crypto/wrap'
import { dekOf } from './deks.ts'
import { heldKey } from './held.ts'

/** The signed key of an environment, as the page has verified it. */
interface Committed {
  environmentId: string
  /** The name in the signed directory. */
  name: string
  commitment: string
  /** The addresses of the people who could sign another key. */
  signers: string[]
}

/** A branch as the page read it. Its parent's signed key must have been noted before. */
interface NamedBranch {
  environmentId: string
  slug: string
  manifest: string | null
  parent: Target
}

/** The environment that something is sealed for or whose key is wrapped, and this person's wrapped copy of its key. */
interface Target {
  environmentId: string
  wrappedDek: string
}

const committed = new Map<string, Committed>()

export const committedOperations = {
  /** From now on, the worker seals nothing for these environments under another key, and wraps no other key of them. */
  noteCommitted: async ({ all }: { all: Committed[] }) => {
    for (const one of all) committed.set(one.environmentId, one)
  },

  /** Notes the key of a branch, which has no entry. A reader of the parent vouches for it with the parent's key. */
  noteBranch: async (branch: NamedBranch) => {
    await requireCommitted(branch.parent)
    const signed = committed.get(branch.parent.environmentId)
    if (signed !== undefined) committed.set(branch.environmentId, await committedBranch(branch, signed))
  },
}

async function committedBranch(
  { environmentId, slug, manifest, parent }: NamedBranch,
  { name, signers }: Committed,
): Promise<Committed> {
  const refuse = (came: string) =>
    new DirectoryError('directory_mismatch', {
      expected: `the branch ${slug} of ${name} with its manifest`,
      came,
      signers,
    })
  if (manifest === null) throw refuse('none')
  const key = await unwrapKey(parent.wrappedDek, heldKey())
  const asked = { parent: parent.environmentId, name: slug }
  const opened = await openBranchManifest(key, manifest, asked, Date.now() / 1000).catch((error: unknown) => {
    throw error instanceof CryptoError ? refuse('another or an expired one') : error
  })
  if (opened.id !== environmentId) throw refuse('that of another branch')
  return { environmentId, name: `${name}@${slug}`, commitment: opened.key, signers }
}

/** Refuses a key that is not the one in the signed directory, if the page has verified the directory. */
export async function requireCommitted({ environmentId, wrappedDek }: Target): Promise<void> {
  const signed = committed.get(environmentId)
  if (signed === undefined) return
  const came = await environmentKeyCommitment(environmentId, await unwrapKey(wrappedDek, heldKey()))
  if (came === signed.commitment) return
  const expected = `${signed.name} with the key ${signed.commitment}`
  throw new DirectoryError('directory_mismatch', { expected, came, signers: signed.signers })
}

/** Returns an environment's key for sealing. Both start before the first `await`, because the worker may end soon. */
export async function sealingDekOf(target: Target): Promise<Dek> {
  const [dek] = await Promise.all([dekOf(target.wrappedDek), requireCommitted(target)])
  return dek
}
