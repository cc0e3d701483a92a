import { type Reader, readersHash } from '@skerry/crypto/directory/commitments'

// An entry has only the hash of its readers. The list comes from the server, and counts if it has this hash. If somebody
// changed the readers without a signature, the signed list is the server's list with a few differences, and trying them
// out finds it. A list with the signed hash is the signed list.

/** The differences between the readers that were signed and those that the server lists. */
export interface ReaderChanges {
  /** Readers that the server lists, and nobody signed. */
  added: readonly Reader[]
  /** Readers that were signed, and the server lists no longer. */
  ended: readonly Reader[]
}

/** About a second of hashing. */
const elementsMax = 400_000

/**
 * Finds the signed list of readers from the list of the server.
 *
 * @param signed the hash in the entry.
 * @param candidates readers who may have been signed: persons, tokens and workers of the directory.
 * @returns null if the lists differ by more than a few readers.
 * @example
 * const changes = await explainReaders(remembered, [], [[`person/${userId}`, remembered]])
 * changes?.ended // the person, if nobody else was signed
 */
export async function explainReaders(
  signed: string,
  claimed: readonly Reader[],
  candidates: readonly Reader[],
): Promise<ReaderChanges | null> {
  let left = elementsMax
  for (const changes of guesses(claimed, candidates)) {
    const list = apply(claimed, changes)
    left -= list.length + 20
    if (left < 0) return null
    if (list && (await readersHash(list)) === signed) return changes
  }
  return null
}

/** The possible differences, the likeliest first. */
function* guesses(claimed: readonly Reader[], candidates: readonly Reader[]): Generator<ReaderChanges> {
  const claimedKeys = new Set(claimed.map(([key]) => key))
  const others = candidates.filter(([key]) => !claimedKeys.has(key))
  const signedAs = new Map(candidates)
  yield { added: [], ended: [] }
  for (const one of claimed) yield { added: [one], ended: [] }
  for (const one of others) yield { added: [], ended: [one] }
  for (const one of claimed) {
    const kid = signedAs.get(one[0])
    if (kid !== undefined && kid !== one[1]) yield { added: [one], ended: [[one[0], kid]] }
  }
  for (const one of claimed) for (const other of others) yield { added: [one], ended: [other] }
  for (const pair of pairsOf(claimed)) yield { added: pair, ended: [] }
  for (const pair of pairsOf(others)) yield { added: [], ended: pair }
}

function* pairsOf(list: readonly Reader[]): Generator<Reader[]> {
  for (const [at, one] of list.entries()) for (const other of list.slice(at + 1)) yield [one, other]
}

/** The signed list: the server's list without the readers that were added, and with those that ended. */
const apply = (claimed: readonly Reader[], { added, ended }: ReaderChanges): Reader[] => {
  const gone = new Set(added.map(([key]) => key))
  return [...claimed.filter(([key]) => !gone.has(key)), ...ended]
}
