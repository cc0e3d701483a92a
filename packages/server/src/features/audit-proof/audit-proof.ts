import type { auditProof } from '@skerry/contract/audit-proof/endpoints'
import { limits } from '@skerry/contract/limits'
import type { Sql } from '../../db/database.ts'
import type { In, Out } from '../../http/route.ts'
import { fail } from '../../kernel/errors.ts'
import type { InOrg } from '../orgs/scope.ts'
import { findLeaf, findNodes, findTree, listLeaves, type Tree } from './store.ts'
import { consistencyProof, type Get, inclusionProof, nodesFor } from './tree.ts'

export async function checkpoint({
  db,
  org,
}: In<typeof auditProof.checkpoint, InOrg>): Out<typeof auditProof.checkpoint> {
  const { checkpoint, size, grownAt, brokenAt } = await getTree(db, org)
  if (checkpoint === null) throw fail('conflict', 'this server has no server key')
  return { checkpoint, size, signedAt: grownAt, brokenAt }
}

export async function inclusion({
  db,
  org,
  query,
}: In<typeof auditProof.inclusion, InOrg>): Out<typeof auditProof.inclusion> {
  const size = checkSize(await getTree(db, org), query.size, 'size')
  const leaf = await findLeaf(db, org, query.entry)
  if (!leaf) throw fail('not_found', 'no sealed entry has this id; a new entry is sealed within about ten seconds')
  const index = leaf.position
  if (index >= size) throw fail('invalid_request', `query.size: a tree of this size ends before the entry at ${index}`)
  const hashes = await withNodes(db, org, (get) => inclusionProof(get, index, size))
  return { proof: { index, size, hashes: hashes.map(toBase64) } }
}

export async function consistency({
  db,
  org,
  query,
}: In<typeof auditProof.consistency, InOrg>): Out<typeof auditProof.consistency> {
  const to = checkSize(await getWholeTree(db, org), query.to, 'to')
  const { from } = query
  if (from > to) throw fail('invalid_request', 'query.from: is larger than query.to')
  const hashes = await withNodes(db, org, (get) => consistencyProof(get, from, to))
  return { proof: { from, to, hashes: hashes.map(toBase64) } }
}

export async function leaves({ db, org, query }: In<typeof auditProof.leaves, InOrg>): Out<typeof auditProof.leaves> {
  const { size, brokenAt } = await getTree(db, org)
  const from = query.from ?? 0
  const to = Math.min(size, from + (query.limit ?? limits.auditLeavesMax))
  return { leaves: await listLeaves(db, org, from, to), size, brokenAt }
}

export async function exportKey({ context, db }: In<typeof auditProof.exportKey>): Out<typeof auditProof.exportKey> {
  const published = await context.exportKey.published(db)
  if (!published) throw fail('not_found', 'this server signs nothing')
  return published
}

/** Refuses a new organization, because none of its entries is sealed yet. */
async function getTree(db: Sql, org: { id: string }): Promise<Tree> {
  const tree = await findTree(db, org)
  if (!tree) throw fail('conflict', 'no entry of this organization is sealed yet: try again in ten seconds')
  return tree
}

/**
 * Refuses a tree that somebody has changed, because nothing new may be computed from it. Its entries, the last signed
 * checkpoint and proofs that lead to it stay readable, since they show where the change is.
 */
async function getWholeTree(db: Sql, org: { id: string }): Promise<Tree> {
  const tree = await getTree(db, org)
  if (tree.brokenAt !== null)
    throw fail('conflict', `the stored hashes of this audit log were changed; nothing is sealed since ${tree.brokenAt}`)
  return tree
}

function checkSize(tree: Tree, given: number | undefined, name: 'size' | 'to'): number {
  if (given !== undefined && given > tree.size)
    throw fail('invalid_request', `query.${name}: only ${tree.size} entries are sealed`)
  return given ?? tree.size
}

export async function withNodes<T>(db: Sql, org: { id: string }, compute: (get: Get) => T): Promise<T> {
  const needed = nodesFor(compute).map((node) => ({ orgId: org.id, ...node }))
  const found = needed.length === 0 ? [] : await findNodes(db, needed)
  const hashes = new Map(found.map(({ level, position, hash }) => [`${level} ${position}`, hash]))
  return compute((level, position) => {
    const hash = hashes.get(`${level} ${position}`)
    if (!hash) throw fail('conflict', 'the stored hashes of this audit log are incomplete')
    return Buffer.from(hash, 'base64')
  })
}

export const toBase64 = (hash: Buffer): string => hash.toString('base64')
