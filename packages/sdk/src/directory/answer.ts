import type { DirectoryEntry } from '@skerry/crypto/directory/entries'
import type { RootPin } from '@skerry/crypto/directory/pin'
import { type EntryOf, verifyEntry } from '@skerry/crypto/directory/proof'
import { DirectoryError } from '@skerry/crypto/directory/refusal'
import { namesOf } from '@skerry/crypto/directory/root'
import type { EntryProof } from '@skerry/crypto/directory/tree'
import type { DirectoryAnswer, KnownDirectory, VerifiedDirectory } from '@skerry/crypto/directory/verify'
import { clientError, SkerryError } from '../errors.ts'

/** The member `directory` of an answer, with the right shape. Nothing in it is verified. */
export interface ShownDirectory extends DirectoryAnswer {
  proofs: readonly EntryProof[]
}

const rootsAsked = 10

/** The members of a query by which the server finds the chains: what this client trusts already. */
export function trustedQuery(pins: readonly RootPin[], known: KnownDirectory | null) {
  const unseen = pins.map(({ root }) => root).filter((root) => !known?.pins.includes(root))
  const root = [...new Set([...(known ? [known.root.hash] : []), ...unseen])].slice(0, rootsAsked)
  return { ...(root.length > 0 ? { root } : {}), ...(known ? { head: known.head.version } : {}) }
}

/**
 * Checks the shape of the member `directory`.
 *
 * @throws DirectoryError `directory_missing` if the server shows none; SkerryError `malformed_answer`.
 */
export function parseShown(value: unknown, expected: string): ShownDirectory {
  if (value === undefined || value === null) throw new DirectoryError('directory_missing', { expected, came: 'none' })
  const { roots, heads, proofs } = value as Partial<Record<keyof ShownDirectory, unknown>>
  if (isTexts(roots) && isTexts(heads) && Array.isArray(proofs) && proofs.every(isProof))
    return { roots, heads, proofs }
  throw clientError('malformed_answer', 'directory does not have the right format')
}

/**
 * Returns the refusal for a server that knows no directories, because it is of an earlier release or pretends to be. A client
 * that relies on a directory does not go on without one. Any other error stays as it is.
 */
export function explainOlder(error: unknown, expected: string): unknown {
  const isOlder =
    error instanceof SkerryError &&
    (error.code === 'old_server' ||
      (error.code === 'invalid_request' && error.message.startsWith('query: unknown field')))
  return isOlder
    ? new DirectoryError('directory_missing', { expected, came: 'the refusal of a server that knows no directories' })
    : error
}

const isTexts = (value: unknown): value is string[] =>
  Array.isArray(value) && value.every((one) => typeof one === 'string')

const isProof = (value: Partial<EntryProof> | null): value is EntryProof =>
  typeof value?.entry === 'string' && typeof value.index === 'number' && isTexts(value.path)

/**
 * Finds the proof of an entry and verifies it.
 *
 * @throws DirectoryError `directory_unproven` without a proof: an object without an entry does not exist.
 */
export async function provenEntry<Key extends DirectoryEntry['key']>(
  { head, root }: VerifiedDirectory,
  key: Key,
  proofs: readonly EntryProof[],
): Promise<EntryOf<Key>> {
  const proof = proofOf(proofs, key)
  if (!proof)
    throw new DirectoryError('directory_unproven', {
      expected: `${key} in head ${head.version}`,
      came: 'no entry',
      signers: namesOf(root.signers, 1),
    })
  return verifyEntry(head, key, proof)
}

/** An entry has one spelling, which begins with its key. */
export const proofOf = (proofs: readonly EntryProof[], key: string): EntryProof | undefined =>
  proofs.find(({ entry }) => entry.startsWith(`[${JSON.stringify(key)},`))

/** A refusal because an answer differs from a signed entry. It names the people who could sign another entry. */
export const mismatch = ({ root }: Pick<VerifiedDirectory, 'root'>, expected: string, came: string): DirectoryError =>
  new DirectoryError('directory_mismatch', { expected, came, signers: namesOf(root.signers, 1) })
