import { type Reader, readersHash } from '@skerry/crypto/directory/commitments'
import type { Claim } from './open.ts'

/** The differences between the readers that were signed and those that the server lists. */
export interface ReaderChanges {
  /** Readers that the server lists, and nobody signed. */
  added: readonly Reader[]
  /** Readers that were signed, and the server lists no longer. */
  ended: readonly Reader[]
}

/** Whether a list has a reader with the same key. */
export const isIn = (list: readonly Reader[]) => (one: Reader) =>
  list.some(([key, kid]) => key === one[0] && kid === one[1])

/** Compares two lists of readers. A reader with another key has ended, and was added. */
export const compareReaders = (before: readonly Reader[], after: readonly Reader[]): ReaderChanges => ({
  added: after.filter((one) => !isIn(before)(one)),
  ended: before.filter((one) => !isIn(after)(one)),
})

/**
 * Compares the readers that the server lists with those that were signed. An entry has only the hash of its readers. The
 * list behind it comes from the server, and counts only if it has this hash.
 *
 * @param signed the hash in the entry.
 * @returns null if the server does not show the list that was signed.
 * @example
 * const { claims } = await client.directory.claims({ params: { orgId } })
 * const changes = await explainReaders(remembered, claims[0]!)
 */
export async function explainReaders(
  signed: string,
  { readers, signedReaders }: Pick<Claim, 'readers' | 'signedReaders'>,
): Promise<ReaderChanges | null> {
  if (!signedReaders || (await readersHash(signedReaders)) !== signed) return null
  return compareReaders(signedReaders, readers ?? [])
}
