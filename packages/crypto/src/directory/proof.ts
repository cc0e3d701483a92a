import { type Bytes, decodeBase64url, encodeBase64url, encodeUtf8 } from '../base64url.ts'
import { sha256 } from '../digest.ts'
import { sidesOfPath } from '../merkle-path.ts'
import { type DirectoryEntry, parseEntry, requireEntryKey } from './entries.ts'
import type { HeadBody } from './head.ts'
import { DirectoryError } from './refusal.ts'
import { hash, list, requireShape } from './shape.ts'
import type { EntryProof } from './tree.ts'

/** A tree with 2^53 leaves is 53 levels high. */
const pathMax = 53
const pathShape = list(hash, 0, pathMax)

/**
 * Verifies that an entry is part of the directory under a head, and that it is the one that was asked for.
 *
 * @param key the entry that the client wants, such as `environment/shop/production`. Never take it from the answer.
 * @throws CryptoError `directory_malformed`, `directory_unsupported`, `malformed_proof`; DirectoryError
 *   `directory_unproven`.
 * @example const { value } = await verifyEntry(verified.head, 'environment/shop/production', entryProof)
 */
export async function verifyEntry<Key extends DirectoryEntry['key']>(
  { count, entries, version }: Pick<HeadBody, 'count' | 'entries' | 'version'>,
  key: Key,
  { entry: written, index, path }: EntryProof,
): Promise<EntryOf<Key>> {
  requireEntryKey(key)
  const entry = parseEntry(written)
  if (entry.key !== key) throw new DirectoryError('directory_unproven', { expected: key, came: entry.key })
  requireShape('path', pathShape, path)
  const sides = sidesOfPath(index, count, path.length)
  let node = await digest(0, encodeUtf8(written))
  for (const [at, side] of sides.entries()) {
    const sibling = decodeBase64url(path[at] as string)
    node = await (side === 'left' ? digest(1, sibling, node) : digest(1, node, sibling))
  }
  const root = encodeBase64url(node)
  if (root !== entries)
    throw new DirectoryError('directory_unproven', {
      expected: `${key} under the entries ${entries} of head ${version}`,
      came: `one under ${root}`,
    })
  return entry as EntryOf<Key>
}

/** The type of the entry that a key names. */
export type EntryOf<Key extends string> = Key extends `${infer Kind}/${string}`
  ? Extract<DirectoryEntry, { key: `${Kind}/${string}` }>
  : never

/** Hashes a leaf (0) or a node (1). WebCrypto needs no module that a program would load for this alone. */
function digest(prefix: 0 | 1, ...parts: Bytes[]): Promise<Bytes> {
  const bytes = new Uint8Array(1 + parts.reduce((sum, { length }) => sum + length, 0))
  bytes[0] = prefix
  let at = 1
  for (const part of parts) {
    bytes.set(part, at)
    at += part.length
  }
  return sha256(bytes)
}
