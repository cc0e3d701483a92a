import { type Bytes, encodeBase64url } from '../base64url.ts'
import { type Hasher, openHasher } from '../merkle.ts'
import { type DirectoryEntry, formatEntry } from './entries.ts'
import { malformed } from './refusal.ts'

/** Shows that an entry is part of the directory. */
export interface EntryProof {
  /** The entry, as `formatEntry` writes it. */
  entry: string
  /** The position of the entry in the order of keys, from 0. */
  index: number
  /** The hashes beside the way from the entry to the root of the tree, base64url. */
  path: readonly string[]
}

/** The Merkle tree over all entries. `count` and `entries` go into a head. */
export interface DirectoryTree {
  count: number
  entries: string
  /** Returns undefined for a key without an entry. */
  prove(key: string): EntryProof | undefined
}

/**
 * Builds the tree over all entries of a directory: RFC 6962, sorted by the bytes of the keys. The order of the list does
 * not matter.
 *
 * @throws CryptoError `directory_malformed` for a malformed entry, and for two entries with one key.
 * @example
 * const tree = await directoryTree([{ key: `person/${userId}`, value: { email: 'ada@example.com', kid: remembered } }])
 * tree.prove(`person/${userId}`)
 */
export async function directoryTree(list: readonly DirectoryEntry[]): Promise<DirectoryTree> {
  const texts = new Map<string, string>(list.map((entry) => [entry.key, formatEntry(entry)]))
  if (texts.size < list.length) throw malformed('two entries have one key')
  return treeOfTexts(texts)
}

/**
 * Builds the same tree over the texts of entries, by key. It parses none of them: each must come from `formatEntry`, or have
 * passed `parseEntry`.
 *
 * @example
 * const entry = { key: `person/${userId}`, value: { email: 'ada@example.com', kid: remembered } } as const
 * const tree = await treeOfTexts(new Map([[entry.key, formatEntry(entry)]]))
 */
export async function treeOfTexts(texts: ReadonlyMap<string, string>): Promise<DirectoryTree> {
  const hasher = await openHasher()
  // Keys are ASCII, so that the order of characters is the order of bytes.
  const sorted = [...texts].sort(([one], [other]) => (one < other ? -1 : 1))
  const positions = new Map(sorted.map(([key], index) => [key, index]))
  const levels = levelsOf(
    hasher,
    sorted.map(([, text]) => hasher.leafOf(text)),
  )
  return {
    count: sorted.length,
    entries: encodeBase64url(levels.at(-1)?.[0] ?? hasher.empty()),
    prove(key) {
      const index = positions.get(key)
      if (index === undefined) return undefined
      return { entry: texts.get(key) as string, index, path: pathOf(levels, index) }
    },
  }
}

/** All levels of the tree, leaves first. A last node without a sibling moves up unchanged. */
function levelsOf(hasher: Hasher, leaves: readonly Bytes[]): (readonly Bytes[])[] {
  if (leaves.length === 0) return []
  const levels = [leaves]
  for (let level = leaves; level.length > 1; levels.push(level)) {
    const below = level
    level = Array.from({ length: Math.ceil(below.length / 2) }, (_, at) => {
      const [left, right] = [below[2 * at] as Bytes, below[2 * at + 1]]
      return right ? hasher.node(left, right) : left
    })
  }
  return levels
}

function pathOf(levels: readonly (readonly Bytes[])[], index: number): string[] {
  return levels.flatMap((level, height) => {
    const sibling = level[Math.floor(index / 2 ** height) ^ 1]
    return sibling ? [encodeBase64url(sibling)] : []
  })
}
