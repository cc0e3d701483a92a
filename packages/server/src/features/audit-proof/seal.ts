import { setTimeout as sleep } from 'node:timers/promises'
import type { Tx } from '../../db/database.ts'
import type { Context } from '../../http/context.ts'
import { instant } from '../../kernel/context.ts'
import type { Signer } from '../../keys/export-key.ts'
import { signCheckpoint } from './note.ts'
import {
  type Cursor,
  findNodes,
  findTrees,
  insertLeaves,
  insertNodes,
  listLater,
  listMet,
  listUnsigned,
  lockSealing,
  markBroken,
  moveSealing,
  type NewLeaf,
  type SealedTo,
  type StoredNode,
  saveTrees,
  type Tree,
  type Unsealed,
} from './store.ts'
import { type Get, grownNodes, leafHash, openNodes, rangeHash } from './tree.ts'

/** The entries that one transaction seals: few enough for the one connection of the embedded database. */
const batchRows = 1000
/** Rows that are freed right after they are hashed cost little, and requests are answered between the reads. */
const readAtOnce = 200
/** Sealing pauses for twice the time of each batch, because requests come first and 10 s are enough. */
const rests = 2

/** Adds every unsealed entry to the tree of its organization, and signs the new state of the trees. */
export async function seal(context: Context): Promise<void> {
  let began = performance.now()
  while (await context.db.transaction((tx) => sealBatch(context, tx))) {
    await sleep(rests * (performance.now() - began))
    began = performance.now()
  }
  await context.db.transaction((tx) => signUnsigned(context, tx))
}

type NewLeaves = Map<string, NewLeaf[]>

/** Returns true if there may be more entries. */
async function sealBatch(context: Context, tx: Tx): Promise<boolean> {
  const cursor = await lockSealing(tx)
  const leaves: NewLeaves = new Map()
  let count = 0
  let last: SealedTo | undefined
  for await (const rows of unsealed(tx, cursor)) {
    addLeaves(leaves, rows)
    count += rows.length
    last = placeOf(rows.at(-1)) ?? last
  }
  if (last) await grow(context, tx, leaves)
  const mayBeMore = count === batchRows
  const next = mayBeMore ? sealedTo(last, cursor) : { xid: cursor.horizon, createdAt: '-infinity', entryId: '' }
  await moveSealing(tx, next, last?.xid ?? null)
  return mayBeMore
}

/** Yields at most one batch, some rows at a time. */
async function* unsealed(tx: Tx, cursor: Cursor): AsyncGenerator<Unsealed[]> {
  const met = await listMet(tx, cursor, batchRows)
  yield met
  let after: SealedTo = cursor
  for (let left = batchRows - met.length; left > 0; ) {
    const take = Math.min(left, readAtOnce)
    const rows = await listLater(tx, after, cursor.latestXid, take)
    yield rows
    if (rows.length < take) return
    left -= take
    after = placeOf(rows.at(-1)) ?? after
  }
}

const placeOf = (row: Unsealed | undefined): SealedTo | undefined =>
  row && { xid: row.xid, createdAt: row.createdAt, entryId: row.id }

function addLeaves(leaves: NewLeaves, rows: readonly Unsealed[]): void {
  for (const row of rows) {
    const leaf = { entryId: row.id, createdAt: row.createdAt, hash: leafHash(row) }
    const known = leaves.get(row.orgId)
    if (known) known.push(leaf)
    else leaves.set(row.orgId, [leaf])
  }
}

/** Entries of later transactions may appear while an older one is open, so sealing stops at the oldest open one. */
const sealedTo = (last: SealedTo | undefined, cursor: Cursor): SealedTo =>
  last && BigInt(last.xid) < BigInt(cursor.horizon) ? last : cursor

/** All trees grow together: one query reads the nodes that they need, and three statements write the result. */
async function grow(context: Context, tx: Tx, leaves: NewLeaves): Promise<void> {
  const trees = new Map((await findTrees(tx, [...leaves.keys()])).map((tree) => [tree.orgId, tree]))
  const growths = [...leaves].map(([orgId, added]) => growthOf(orgId, trees.get(orgId), added))
  const needed = growths.flatMap(({ orgId, before }) => openNodes(before).map((node) => ({ orgId, ...node })))
  const stored = keyed(needed.length === 0 ? [] : await findNodes(tx, needed))
  const signer = await context.exportKey.signer(tx)
  const broken: string[] = []
  const grown = growths.flatMap(({ orgId, before, after, added, compute }) => {
    const { rootBefore, nodes, root } = compute(stored(orgId))
    const known = trees.get(orgId)
    if (known && known.root !== rootBefore.toString('base64')) {
      broken.push(orgId)
      return []
    }
    const checkpoint = signer && signCheckpoint(signer, orgId, after, root)
    const tree = { orgId, size: after, root: root.toString('base64'), checkpoint }
    const run = { orgId, start: before, leaves: added }
    const inner = nodes.map((node) => ({ orgId, ...node, hash: node.hash.toString('base64') }))
    return [{ tree, run, inner }]
  })
  await Promise.all([
    insertLeaves(
      tx,
      grown.map(({ run }) => run),
    ),
    insertNodes(
      tx,
      grown.flatMap(({ inner }) => inner),
    ),
    saveTrees(
      tx,
      grown.map(({ tree }) => tree),
      instant(context),
    ),
  ])
  if (broken.length === 0) return
  await markBroken(tx, broken, instant(context))
  context.log.error('sealed audit entries were changed by hand', { orgIds: broken })
}

/** Computes the expected root of a tree before it grows, the subtrees that become complete, and the root afterwards. */
function growthOf(orgId: string, tree: Tree | undefined, added: NewLeaf[]) {
  const before = tree?.size ?? 0
  const after = before + added.length
  const compute = (get: Get) => {
    const known: Get = (level, position) =>
      level === 0 && position >= before ? (added[position - before] as NewLeaf).hash : get(level, position)
    const rootBefore = rangeHash(get, 0, before)
    const nodes = grownNodes(known, before, after)
    const complete = new Map(nodes.map((node) => [`${node.level} ${node.position}`, node.hash]))
    const root = rangeHash(
      (level, position) => complete.get(`${level} ${position}`) ?? known(level, position),
      0,
      after,
    )
    return { rootBefore, nodes, root }
  }
  return { orgId, before, after, added, compute }
}

const missing = Buffer.alloc(32)

/** Looks up nodes by position. A missing node counts as zeros, which changes the root, so that the loss is noticed. */
function keyed(nodes: StoredNode[]): (orgId: string) => Get {
  const hashes = new Map(
    nodes.map(({ orgId, level, position, hash }) => [
      `${orgId} ${level} ${position}`,
      Buffer.from(hash ?? '', 'base64'),
    ]),
  )
  return (orgId) => (level, position) => hashes.get(`${orgId} ${level} ${position}`) ?? missing
}

async function signUnsigned(context: Context, tx: Tx): Promise<void> {
  const signer: Signer | null = await context.exportKey.signer(tx)
  if (!signer) return
  await lockSealing(tx)
  const trees = await listUnsigned(tx, batchRows)
  const signed = trees.map((tree) => ({
    ...tree,
    checkpoint: signCheckpoint(signer, tree.orgId, tree.size, Buffer.from(tree.root, 'base64')),
  }))
  if (signed.length > 0) await saveTrees(tx, signed, instant(context))
}
