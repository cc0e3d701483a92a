import type { DirectoryEntry } from '@skerry/crypto/directory/entries'
import type { RootSigner } from '@skerry/crypto/directory/root'
import type { SignedDirectory } from '@skerry/sdk/internal/directory/open'
import { entryNames } from '@skerry/sdk/internal/directory/words'
import { Failure } from '../failure.ts'

// The text that names a new signer also names the key under which the policies of agents count. Nobody compares the words of
// this second key, so it must be the one in the signer's entry.

/** The key of the entry of somebody who signs. */
export const signerEntry = (one: RootSigner): `person/${string}` | `token/${string}` =>
  'person' in one ? `person/${one.person}` : `token/${one.token}`

/** Refuses a new signer who has no signed entry, or whose policies would count under another key than that of the entry. */
export function requirePolicyKey(directory: Pick<SignedDirectory, 'entries'>, signer: RootSigner): void {
  const entry = directory.entries.get(signerEntry(signer))
  if (!entry)
    throw new Failure('refused', 'nobody has signed the key of this person yet', 'run `skerry trust sign` first')
  if (signer.policyKid !== policyKidOf(entry)) throw otherPolicyKey(entryNames(directory)(entry.key))
}

/** People sign policies of agents with the key that others wrap to. A token signs none. */
const policyKidOf = ({ key, value }: DirectoryEntry): string | null =>
  key.startsWith('person/') && 'kid' in value ? value.kid : null

const otherPolicyKey = (name: string): Failure =>
  new Failure(
    'refused',
    `this text names another key of ${name} than the signed directory; nothing was changed`,
    'ask them for the words of `skerry keys fingerprint` and for a new text. If their key was replaced, run `skerry trust sign` first',
  )
