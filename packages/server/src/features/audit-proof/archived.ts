import type { Reading, Sql } from '../../db/database.ts'
import { entryColumnsOf } from '../audit/scope.ts'
import { type AuditArchive, listArchives } from './archive-store.ts'
import { toBase64, withNodes } from './audit-proof.ts'
import { findTree, type Tree } from './store.ts'
import { edgeOf, type Subtree } from './tree.ts'

/** An audit log as an archive contains it: the proof of the entries, and the queries that read them in tree order. */
export interface ArchivedTrail {
  proof: TrailProof
  /** True if a limit left out older entries. */
  truncated: boolean
  gaps: Reading
  sealed: Reading
  unsealed: Reading
}

/** The one row of `auditProof`. */
export interface TrailProof {
  /** Archive files that only the operator has. An export of an earlier release lists none. */
  archives?: AuditArchive[]
  checkpoint: string | null
  /** Complete subtrees of the entries before `start`, from left to right. */
  edge: { hash: string; leaves: number }[]
  size: number
  /** The index of the first entry in this archive. */
  start: number
}

/** @param limit how many of the newest entries to read; null reads all */
export async function readTrail(db: Sql, org: { id: string }, limit: number | null): Promise<ArchivedTrail> {
  const tree = await findTree(db, org)
  const size = tree?.size ?? 0
  const waiting = await countUnsealed(db, org, tree)
  const start = limit === null ? 0 : Math.max(0, size - Math.max(0, limit - waiting))
  const edge = start === 0 ? [] : await withNodes(db, org, (get) => edgeOf(get, start))
  const checkpoint = tree?.brokenAt ? null : (tree?.checkpoint ?? null)
  return {
    proof: { archives: await listArchives(db, org), checkpoint, edge: edge.map(spelt), size, start },
    truncated: start > 0 || (limit !== null && waiting > limit),
    gaps: { text: gaps, values: [org.id, start] },
    sealed: { text: sealed, values: [org.id, start] },
    unsealed: { text: newestOf(unsealedOf(tree)), values: [org.id, limit] },
  }
}

export const spelt = ({ leaves, hash }: Subtree) => ({ hash: toBase64(hash), leaves })

const sealed = `
  select ${entryColumnsOf('e')} from audit_leaves l
    join audit_entries e on e.org_id = l.org_id and e.created_at = l.created_at and e.id = l.entry_id
   where l.org_id = $1 and l.position >= $2 order by l.position`

const gaps = `
  select l.position as index, l.entry_id, l.created_at, translate(encode(l.hash, 'base64'), E'\\n', '') as hash
    from audit_leaves l
   where l.org_id = $1 and l.position >= $2
     and not exists (select from audit_entries e
                      where e.org_id = l.org_id and e.created_at = l.created_at and e.id = l.entry_id)
   order by l.position`

/** The sealer has handled every entry before its cursor. It adds no entries to a tree that somebody has changed. */
const unsealedOf = (tree: Tree | undefined): string => `
  select ${entryColumnsOf('e')} from audit_entries e
   where e.org_id = $1
     and not exists (select from audit_leaves l where l.org_id = e.org_id and l.entry_id = e.id)
     ${tree?.brokenAt ? '' : afterCursor}`

/** Takes the newest entries, and returns the oldest of them first. */
const newestOf = (entries: string): string => `
  select * from (${entries} order by e.created_at desc, e.id desc limit $2) newest order by created_at, id`

const afterCursor = `
     and e.xid >= (select case when s.xid > pg_snapshot_xmax(pg_current_snapshot()) then '0' else s.xid end
                     from audit_sealing s)`

const countUnsealed = async (db: Sql, org: { id: string }, tree: Tree | undefined): Promise<number> =>
  (await db.row<{ count: number }>(`select count(*) as count from (${unsealedOf(tree)}) u`, [org.id]))?.count ?? 0
