import { hash } from 'node:crypto'
import type { Entry } from '../audit/scope.ts'
import { canonicalOf } from './canonical.ts'

// RFC 6962, section 2.1: the first hashed byte differs for leaves and nodes, so that none can pass for the other.

const leafPrefix = '\0'
const nodePrefix = 1

export const sha256 = (...parts: Uint8Array[]): Buffer => hashOf(Buffer.concat(parts))

/** Hashes through a string, which Node returns in half the time of a new buffer. */
const hashOf = (data: string | Buffer): Buffer => Buffer.from(hash('sha256', data, 'binary'), 'binary')

/** The hash of an entry as the API shows it, in the canonical form of RFC 8785. */
export const leafHash = (entry: Entry): Buffer => hashOf(leafPrefix + canonicalOf(entry))

/** The input of a node's hash. All nodes share this buffer, because there are as many nodes as entries. */
const pair = Buffer.alloc(65, nodePrefix)

function nodeHash(left: Buffer, right: Buffer): Buffer {
  left.copy(pair, 1)
  right.copy(pair, 33)
  return hashOf(pair)
}

/** Levels whose complete subtrees are stored: 0 (leaves), 4, 8 ... A hash between them needs at most eight. */
const levelStep = 4
const fanOut = 2 ** levelStep

/** Returns the hash of a complete subtree of 2^level leaves. The position counts such subtrees from the left. */
export type Get = (level: number, position: number) => Buffer

export interface Node {
  level: number
  position: number
}

/** The hash of the leaves from `start` to before `end`, where `start` is a multiple of the size of the subtree. */
export function rangeHash(get: Get, start: number, end: number): Buffer {
  const size = end - start
  if (size === 0) return sha256()
  const level = Math.floor(Math.log2(size))
  if (2 ** level === size) return completeHash(get, level, start / size)
  const middle = start + 2 ** level
  return nodeHash(rangeHash(get, start, middle), rangeHash(get, middle, end))
}

function completeHash(get: Get, level: number, position: number): Buffer {
  if (level % levelStep === 0) return get(level, position)
  return nodeHash(completeHash(get, level - 1, 2 * position), completeHash(get, level - 1, 2 * position + 1))
}

/** A complete subtree. A tree consists of several, the largest first, with at most one of each size. */
export interface Subtree {
  leaves: number
  hash: Buffer
}

/** Returns the complete subtrees of a tree of `size` leaves. */
export function edgeOf(get: Get, size: number): Subtree[] {
  const edge: Subtree[] = []
  for (let from = 0; from < size; ) {
    const leaves = 2 ** Math.floor(Math.log2(size - from))
    edge.push({ leaves, hash: rangeHash(get, from, from + leaves) })
    from += leaves
  }
  return edge
}

/** Adds a leaf to the complete subtrees of a tree. */
export function append(edge: Subtree[], leaf: Buffer): void {
  let added: Subtree = { leaves: 1, hash: leaf }
  while (edge.at(-1)?.leaves === added.leaves) {
    const left = edge.pop() as Subtree
    added = { leaves: 2 * added.leaves, hash: nodeHash(left.hash, added.hash) }
  }
  edge.push(added)
}

export const rootOf = (edge: readonly Subtree[]): Buffer =>
  edge.length === 0 ? sha256() : edge.map(({ hash }) => hash).reduceRight((right, left) => nodeHash(left, right))

/** The hashes beside the path from a leaf to the root of a tree of `size` leaves, from the bottom up. */
export function inclusionProof(get: Get, index: number, size: number): Buffer[] {
  const path = (start: number, end: number): Buffer[] => {
    if (end - start === 1) return []
    const middle = start + splitOf(end - start)
    return index < middle
      ? [...path(start, middle), rangeHash(get, middle, end)]
      : [...path(middle, end), rangeHash(get, start, middle)]
  }
  return path(0, size)
}

/** The hashes that prove that a tree of `from` leaves is the beginning of a tree of `to` leaves. */
export function consistencyProof(get: Get, from: number, to: number): Buffer[] {
  const subproof = (start: number, end: number, isWhole: boolean): Buffer[] => {
    if (end === from) return isWhole ? [] : [rangeHash(get, start, end)]
    const middle = start + splitOf(end - start)
    return from <= middle
      ? [...subproof(start, middle, isWhole), rangeHash(get, middle, end)]
      : [...subproof(middle, end, false), rangeHash(get, start, middle)]
  }
  return from === 0 || from === to ? [] : subproof(0, to, true)
}

/** The largest power of two below `size`. */
const splitOf = (size: number): number => 2 ** (Math.ceil(Math.log2(size)) - 1)

/** The stored hashes that a tree of `size` leaves needs to grow: those that are in no larger stored subtree. */
export function openNodes(size: number): Node[] {
  const nodes: Node[] = []
  for (let level = 0; 2 ** level <= size; level += levelStep) {
    const count = Math.floor(size / 2 ** level)
    for (let position = count - (count % fanOut); position < count; position++) nodes.push({ level, position })
  }
  return nodes
}

/** Returns the subtrees that become complete when a tree grows. `get` supplies the leaves and the earlier subtrees. */
export function grownNodes(get: Get, before: number, after: number): (Node & { hash: Buffer })[] {
  const grown: (Node & { hash: Buffer })[] = []
  let below: Buffer[] = []
  let firstBelow = 0
  for (let level = levelStep; 2 ** level <= after; level += levelStep) {
    const first = Math.floor(before / 2 ** level)
    const here: Buffer[] = []
    for (let position = first; (position + 1) * 2 ** level <= after; position++) {
      const children = Array.from({ length: fanOut }, (_, index) => {
        const child = position * fanOut + index
        return below[child - firstBelow] ?? get(level - levelStep, child)
      })
      const joined = joinAll(children)
      here.push(joined)
      grown.push({ level, position, hash: joined })
    }
    below = here
    firstBelow = first
  }
  return grown
}

/** Builds the stored subtrees of a tree whose leaves are added in order, from the first. */
export function collectNodes() {
  const open: Buffer[][] = []
  const counts: number[] = []
  let complete: (Node & { hash: Buffer })[] = []
  const add = (hash: Buffer, depth = 0): void => {
    open[depth] ??= []
    const siblings = open[depth]
    siblings.push(hash)
    if (siblings.length < fanOut) return
    open[depth] = []
    const position = counts[depth] ?? 0
    counts[depth] = position + 1
    const joined = joinAll(siblings)
    complete.push({ level: (depth + 1) * levelStep, position, hash: joined })
    add(joined, depth + 1)
  }
  return {
    add: (leaf: Buffer) => add(leaf),
    /** Returns the subtrees that have become complete since the last call. */
    take: () => {
      const taken = complete
      complete = []
      return taken
    },
  }
}

function joinAll(hashes: Buffer[]): Buffer {
  if (hashes.length === 1) return hashes[0] as Buffer
  const half = hashes.length / 2
  return nodeHash(joinAll(hashes.slice(0, half)), joinAll(hashes.slice(half)))
}

const nothing = Buffer.alloc(32)

/** Finds the stored hashes that a computation needs, by running it with dummy hashes. */
export function nodesFor(compute: (get: Get) => unknown): Node[] {
  const asked = new Map<string, Node>()
  compute((level, position) => {
    asked.set(`${level} ${position}`, { level, position })
    return nothing
  })
  return [...asked.values()]
}
