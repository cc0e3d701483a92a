import type { Bytes } from '@skerry/crypto/base64url'
import { type Checkpoint, decodeBase64 } from '@skerry/crypto/checkpoint'
import { growTree, type Hasher, isSameHash, rootOfInclusion } from '@skerry/crypto/merkle'
import type { Client } from './client.ts'
import { SkerryError } from './errors.ts'

/** An entry of an audit log, with the hash of its present content. */
export interface SealedEntry {
  id: string
  hash: Bytes
}

interface Trail {
  hasher: Hasher
  /** The checkpoint that the entries do not match. */
  signed: Checkpoint
  entries: readonly SealedEntry[]
}

/** The range of the damage: the index of the first entry, and the index after the last. */
export interface Damage {
  start: number
  end: number
  /** False if the range is based on unsigned hashes, because the hashes of the newest entries were changed. */
  isProven: boolean
}

/**
 * A server stores the hash of every 16 entries, of every 256 and so on, beside the hashes of the entries themselves.
 */
const storedTogether = 16

/**
 * Finds the entries that differ from what was signed, when their stored hashes were changed to match. A proof is made
 * with the stored hashes of larger parts of the tree. It leads to the signed root from every part except the changed
 * one.
 *
 * @returns usually 16 entries; more if the hashes of larger parts were changed too.
 */
export async function findDamage(client: Client, orgId: string, trail: Trail): Promise<Damage> {
  const { length } = trail.entries
  const damage = { start: 0, end: length, isProven: true }
  while (damage.end - damage.start > storedTogether) {
    const { start, end } = damage
    const middle = start + 2 ** (Math.ceil(Math.log2(end - start)) - 1)
    const [earlier, later] = [rootOf(trail, start, middle), rootOf(trail, middle, end)]
    const [fromStart, fromMiddle] = [
      await askWay(client, orgId, trail, start),
      await askWay(client, orgId, trail, middle),
    ]
    // The hashes beside a proven path are proven too. The newest entries do not fill a part yet, so the paths of all of
    // them may be unproven.
    const isUnfilled = end === length && !Number.isInteger(Math.log2(end - start))
    const isEarlierDamaged = fromStart.isProven
      ? holds(fromStart, later)
      : fromMiddle.isProven || isUnfilled
        ? !holds(fromMiddle, earlier)
        : null
    if (isEarlierDamaged === null) break
    damage.isProven &&= fromStart.isProven || fromMiddle.isProven
    if (isEarlierDamaged) damage.end = middle
    else damage.start = middle
  }
  return damage
}

function rootOf({ hasher, entries }: Trail, start: number, end: number): Bytes {
  const tree = growTree(hasher)
  for (const { hash } of entries.slice(start, end)) tree.append(hash)
  return tree.root()
}

/** The path from an entry to the root, by the hashes that the server has stored. */
interface Way {
  hashes: Bytes[]
  /** Whether the path leads to the signed root. */
  isProven: boolean
}

const holds = ({ hashes }: Way, wanted: Bytes): boolean => hashes.some((hash) => isSameHash(hash, wanted))

async function askWay(client: Client, orgId: string, trail: Trail, index: number): Promise<Way> {
  const { hasher, signed, entries } = trail
  const { id, hash: leaf } = entries[index] as SealedEntry
  const hashes = await proofOf(client, orgId, { entry: id, size: signed.size })
  if (hashes === null) return { hashes: [], isProven: false }
  const root = rootOfInclusion(hasher, { leaf, index, size: signed.size, hashes })
  return { hashes, isProven: isSameHash(root, signed.root) }
}

/** Returns null if stored hashes are missing. */
async function proofOf(client: Client, orgId: string, query: { entry: string; size: number }): Promise<Bytes[] | null> {
  try {
    const { proof } = await client.auditProof.inclusion({ params: { orgId }, query })
    return proof.hashes.map(decodeBase64)
  } catch (error) {
    if (error instanceof SkerryError && error.code === 'conflict') return null
    throw error
  }
}
