import type { Bytes } from '@skerry/crypto/base64url'
import { type Checkpoint, decodeBase64 } from '@skerry/crypto/checkpoint'
import { growTree, type Hasher, isSameHash, rootOfInclusion } from '@skerry/crypto/merkle'
import type { Client } from './client.ts'
import { SkerryError } from './errors.ts'

/** An entry of a trail, with the hash of what it is by now. */
export interface SealedEntry {
  id: string
  hash: Bytes
}

interface Trail {
  hasher: Hasher
  /** The checkpoint that the entries do not lead to. */
  signed: Checkpoint
  entries: readonly SealedEntry[]
}

/** Where the damage is: the first entry, and the place after the last. */
export interface Damage {
  start: number
  end: number
  /** False where it rests on hashes that lead to no signature, because those of the newest entries were changed. */
  isProven: boolean
}

/** A server stores the hash of every sixteen entries, of every 256 and so on, beside those of the entries themselves. */
const storedTogether = 16

/**
 * Finds which entries are not those that were signed, where their stored hashes were changed alike. Proofs that are made
 * with the stored hashes of larger parts lead to the signed root from every part but the one that was changed.
 *
 * @returns usually sixteen entries; more where the hashes of larger parts were changed, too.
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
    // What stands beside a proven way is proven as well. Of the newest entries, which fill no part yet, none may be.
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

/** From an entry to the root, by what the server has stored. */
interface Way {
  hashes: Bytes[]
  /** Whether it leads to the root that was signed. */
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

/** -> null where stored hashes are missing. */
async function proofOf(client: Client, orgId: string, query: { entry: string; size: number }): Promise<Bytes[] | null> {
  try {
    const { proof } = await client.auditProof.inclusion({ params: { orgId }, query })
    return proof.hashes.map(decodeBase64)
  } catch (error) {
    if (error instanceof SkerryError && error.code === 'conflict') return null
    throw error
  }
}
