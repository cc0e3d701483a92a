import type { Tx } from '../../db/database.ts'
import type { Entry } from '../audit/scope.ts'
import { insertArchives } from './archive-store.ts'
import type { TrailProof } from './archived.ts'
import { withNodes } from './audit-proof.ts'
import {
  insertEntries,
  insertLeaves,
  insertNodes,
  makePartition,
  type NewLeaf,
  noteSealedHere,
  type StoredNode,
  saveTrees,
} from './store.ts'
import { collectNodes, leafHash, rangeHash } from './tree.ts'

/** A leaf whose entry was already missing when the archive was made. */
interface Gap {
  index: number
  entryId: string
  createdAt: string
  hash: string
}

/** Takes the rows of an archived audit log in their order, and rebuilds the tree. */
export interface TrailRestore {
  addGaps(gaps: readonly Gap[]): void
  addEntries(entries: readonly Entry[]): Promise<void>
  /** Compares the tree with the checkpoint. Returns null without a checkpoint, or if the log is not complete. */
  finish(now: string): Promise<boolean | null>
}

export function openTrailRestore(tx: Tx, org: { id: string }, proof: TrailProof): TrailRestore {
  // A log without its beginning cannot continue its tree, so its entries are sealed as new ones.
  const size = proof.start > 0 ? 0 : proof.size
  const gaps = new Map<number, Gap>()
  const months = new Set<string>()
  const nodes = collectNodes()
  let position = 0
  const leafOf = (entryId: string, createdAt: string, hash: Buffer): NewLeaf => {
    nodes.add(hash)
    position++
    return { entryId, createdAt, hash }
  }
  const passGaps = (): NewLeaf[] => {
    const leaves: NewLeaf[] = []
    for (let gap = gaps.get(position); gap; gap = gaps.get(position))
      leaves.push(leafOf(gap.entryId, gap.createdAt, Buffer.from(gap.hash, 'base64')))
    return leaves
  }
  const store = async (leaves: NewLeaf[]) => {
    if (leaves.length > 0) await insertLeaves(tx, [{ orgId: org.id, start: position - leaves.length, leaves }])
    const complete: StoredNode[] = nodes
      .take()
      .map(({ hash, ...node }) => ({ orgId: org.id, ...node, hash: hash.toString('base64') }))
    if (complete.length > 0) await insertNodes(tx, complete)
  }
  return {
    addGaps(added) {
      for (const gap of added) gaps.set(gap.index, gap)
    },
    async addEntries(entries) {
      for (const { createdAt } of entries) {
        const month = `${createdAt.slice(0, 7)}-01`
        if (!months.has(month)) await makePartition(tx, month)
        months.add(month)
      }
      await insertEntries(tx, org, entries)
      const leaves = entries.flatMap((entry) => {
        const before = size > 0 ? passGaps() : []
        return position < size ? [...before, leafOf(entry.id, entry.createdAt, leafHash(entry))] : before
      })
      await store(leaves)
    },
    async finish(now) {
      if (size === 0) return null
      await store(passGaps())
      if (position !== size) return false
      const root = (await withNodes(tx, org, (get) => rangeHash(get, 0, size))).toString('base64')
      await noteSealedHere(tx)
      await insertArchives(tx, org, proof.archives ?? [])
      await saveTrees(tx, [{ orgId: org.id, size, root, checkpoint: null }], now)
      return proof.checkpoint === null ? null : proof.checkpoint.split('\n')[2] === root
    },
  }
}
