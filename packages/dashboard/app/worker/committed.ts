import { environmentKeyCommitment } from '@skerry/crypto/directory/commitments'
import { DirectoryError } from '@skerry/crypto/directory/refusal'
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
