import { createSHA256 } from 'hash-wasm'
import { type Bytes, encodeUtf8 } from './base64url.ts'
import { canonicalJson } from './canonical-json.ts'
import { CryptoError } from './errors.ts'
import { sidesOfPath } from './merkle-path.ts'

// The verifier's side of RFC 6962, section 2.1. Nothing here contacts a server.

/** Computes the hashes of a Merkle tree synchronously, because an audit log may have millions of entries. */
export interface Hasher {
  /** Hashes an entry, in the one form that RFC 8785 gives its JSON. */
  leaf(entry: object): Bytes
  /** Hashes an entry whose JSON has that form already. */
  leafOf(text: string): Bytes
  node(left: Bytes, right: Bytes): Bytes
  /** The hash of a tree without leaves. */
  empty(): Bytes
}

/** @example const hasher = await openHasher() */
export async function openHasher(): Promise<Hasher> {
  const newHash = await openSha256()
  const digest = (prefix: readonly number[], ...parts: Bytes[]): Bytes => {
    const hash = newHash().update(Uint8Array.from(prefix))
    for (const part of parts) hash.update(part)
    return Uint8Array.from(hash.digest('binary'))
  }
  const leafOf = (text: string) => digest([0], encodeUtf8(text))
  return {
    leaf: (entry) => leafOf(canonicalJson(entry)),
    leafOf,
    node: (left, right) => digest([1], left, right),
    empty: () => digest([]),
  }
}

interface Sha256 {
  update(bytes: Bytes): Sha256
  digest(form: 'binary'): Uint8Array
}

/** WebAssembly, or JavaScript in a page whose policy forbids WebAssembly. */
async function openSha256(): Promise<() => Sha256> {
  try {
    const sha256 = await createSHA256()
    return () => sha256.init()
  } catch (error) {
    if (!(error instanceof WebAssembly.CompileError)) throw error
    const { sha256 } = await import('@noble/hashes/sha2.js')
    return () => {
      const hash = sha256.create()
      const same: Sha256 = {
        update: (bytes) => {
          hash.update(bytes)
          return same
        },
        digest: () => hash.digest(),
      }
      return same
    }
  }
}

/** A tree that only grows. Only its right edge is stored. */
export interface GrowingTree {
  readonly size: number
  append(leaf: Bytes): void
  root(): Bytes
}

/** The root of a complete subtree: `leaves` is a power of two. */
export interface Subtree {
  leaves: number
  hash: Bytes
}

/**
 * Creates a tree to which leaves can be appended.
 *
 * @param before the existing tree: complete subtrees, the largest first
 * @example
 * const hasher = await openHasher()
 * const tree = growTree(hasher)
 * tree.append(hasher.leaf(message))
 * tree.root()
 */
export function growTree(hasher: Hasher, before: readonly Subtree[] = []): GrowingTree {
  const edge: Subtree[] = [...before]
  let size = edge.reduce((sum, { leaves }) => sum + leaves, 0)
  return {
    get size() {
      return size
    },
    append(leaf) {
      let added = { leaves: 1, hash: leaf }
      while (edge.at(-1)?.leaves === added.leaves) {
        const left = edge.pop() as Subtree
        added = { leaves: 2 * added.leaves, hash: hasher.node(left.hash, added.hash) }
      }
      edge.push(added)
      size += 1
    },
    root: () =>
      edge.length === 0
        ? hasher.empty()
        : edge.map(({ hash }) => hash).reduceRight((right, left) => hasher.node(left, right)),
  }
}

/**
 * Computes the root that an inclusion proof leads to. It must equal the checkpoint's root. RFC 9162, section 2.1.3.2.
 */
export function rootOfInclusion(
  hasher: Hasher,
  { leaf, index, size, hashes }: { leaf: Bytes; index: number; size: number; hashes: readonly Bytes[] },
): Bytes {
  return sidesOfPath(index, size, hashes.length).reduce((hash, side, at) => {
    const sibling = hashes[at] as Bytes
    return side === 'left' ? hasher.node(sibling, hash) : hasher.node(hash, sibling)
  }, leaf)
}

/**
 * Computes the roots of both trees from a consistency proof. Each must equal the root of its checkpoint. RFC 9162,
 * section 2.1.4.2. `from` is at least 1 and smaller than `to`.
 */
export function rootsOfConsistency(
  hasher: Hasher,
  { from, to, fromRoot, hashes }: { from: number; to: number; fromRoot: Bytes; hashes: readonly Bytes[] },
): { from: Bytes; to: Bytes } {
  if (!(Number.isSafeInteger(from) && Number.isSafeInteger(to) && 0 < from && from < to))
    throw new CryptoError('malformed_proof', 'the tree sizes are not valid')
  const path = isPowerOfTwo(from) ? [fromRoot, ...hashes] : [...hashes]
  let [node, last] = [from - 1, to - 1]
  while (node % 2 === 1) [node, last] = [Math.floor(node / 2), Math.floor(last / 2)]
  const [first, ...rest] = path
  if (!first) throw new CryptoError('malformed_proof', 'it is too short')
  let [older, newer] = [first, first]
  for (const hash of rest) {
    if (last === 0) throw new CryptoError('malformed_proof', 'it is too long')
    if (node % 2 === 1 || node === last) {
      ;[older, newer] = [hasher.node(hash, older), hasher.node(hash, newer)]
      while (node % 2 === 0 && node !== 0) [node, last] = [node / 2, Math.floor(last / 2)]
    } else newer = hasher.node(newer, hash)
    ;[node, last] = [Math.floor(node / 2), Math.floor(last / 2)]
  }
  if (last !== 0) throw new CryptoError('malformed_proof', 'it is too short')
  return { from: older, to: newer }
}

const isPowerOfTwo = (size: number): boolean => Number.isInteger(Math.log2(size))

export const isSameHash = (one: Bytes, other: Bytes): boolean =>
  one.length === other.length && one.every((byte, index) => byte === other[index])
