import type { Sql, Tx } from '../../db/database.ts'
import { type Entry, entryColumnsOf } from '../audit/scope.ts'
import type { Node } from './tree.ts'

/** Every entry up to this one is sealed. */
export interface SealedTo {
  xid: string
  createdAt: string
  entryId: string
}

export interface Cursor extends SealedTo {
  /** All transactions before this one have ended. */
  horizon: string
  /** No tree has an entry of a later transaction than this one. */
  latestXid: string
}

/**
 * Waits while another server seals. A database that was restored elsewhere counts transactions from the beginning, so
 * the cursor of the old database is ignored and every entry is checked again.
 *
 * Entries to seal are newer than the statistics of their table. A plan made for the current values would expect almost
 * no rows, and would read and sort all waiting entries for each small read. Therefore this forces a generic plan.
 */
export const lockSealing = async (tx: Tx): Promise<Cursor> =>
  (await tx.row<Cursor>(
    `select case when s.xid > pg_snapshot_xmax(pg_current_snapshot()) then '0' else s.xid::text end as xid,
            case when s.xid > pg_snapshot_xmax(pg_current_snapshot()) then '-infinity' else s.created_at::text end as created_at,
            case when s.xid > pg_snapshot_xmax(pg_current_snapshot()) then '' else s.entry_id end as entry_id,
            pg_snapshot_xmin(pg_current_snapshot())::text as horizon, s.latest_xid::text,
            set_config('plan_cache_mode', 'force_generic_plan', true)
       from audit_sealing s for update`,
  )) as Cursor

/** @param latestXid transaction of the latest entry that was sealed now; null if there was none */
export const moveSealing = (tx: Tx, to: SealedTo, latestXid: string | null) =>
  tx.rows(
    `update audit_sealing set xid = $1::text::xid8, created_at = $2::text::timestamptz, entry_id = $3,
                              latest_xid = greatest(latest_xid, $4::text::xid8)`,
    [to.xid, to.createdAt, to.entryId, latestXid],
  )

/** Marks restored entries as sealed, because they come with their tree. */
export const noteSealedHere = (tx: Tx) =>
  tx.rows('update audit_sealing set latest_xid = greatest(latest_xid, pg_current_xact_id())')

export type Unsealed = Entry & { orgId: string; xid: string }

/** Lists entries that were written while the last ones were sealed. Some are in a tree already, so each is checked. */
export const listMet = (tx: Tx, { xid, createdAt, entryId, latestXid }: Cursor, take: number) =>
  tx.rows<Unsealed>(
    unsealed(`and e.xid <= $4::text::xid8
     and (select true from audit_leaves l where l.org_id = e.org_id and l.entry_id = e.id) is null`),
    [xid, createdAt, entryId, latestXid, take],
  )

/** Lists entries after a position, of transactions later than any in a tree. */
export const listLater = (tx: Tx, after: SealedTo, latestXid: string, take: number) =>
  tx.rows<Unsealed>(unsealed('and e.xid > $4::text::xid8'), [
    after.xid,
    after.createdAt,
    after.entryId,
    latestXid,
    take,
  ])

/** Entries that no tree has yet, in the order in which their transactions began to write. */
const unsealed = (which: string) => `
  select e.org_id, e.xid::text, ${entryColumnsOf('e')}
    from audit_entries e
   where e.xid >= $1::text::xid8 and (e.xid, e.created_at, e.id) > ($1::text::xid8, $2::text::timestamptz, $3)
     and e.org_id is not null ${which}
     and e.org_id not in (select org_id from audit_trees where broken_at is not null)
   order by e.xid, e.created_at, e.id limit $5`

export interface Tree {
  orgId: string
  size: number
  /** The root hash in base64, like all hashes in this file. */
  root: string
  checkpoint: string | null
  /** The time of the last growth, and of the signature if there is a checkpoint. */
  grownAt: string
  brokenAt: string | null
}

const treeColumns = `org_id, size, translate(encode(root, 'base64'), E'\\n', '') as root, checkpoint, grown_at, broken_at`

export const findTrees = (db: Sql, orgIds: string[]) =>
  db.rows<Tree>(`select ${treeColumns} from audit_trees where org_id = any($1::text[]) and broken_at is null`, [orgIds])

export const findTree = (db: Sql, org: { id: string }) =>
  db.row<Tree>(`select ${treeColumns} from audit_trees where org_id = $1`, [org.id])

/** Locks the tree until the end of the transaction, so that nobody else archives entries of this log. */
export const lockTree = (tx: Tx, org: { id: string }) =>
  tx.rows('select 1 from audit_trees where org_id = $1 for update', [org.id])

export const markBroken = (tx: Tx, orgIds: string[], now: string) =>
  tx.rows('update audit_trees set broken_at = $2 where org_id = any($1::text[])', [orgIds, now])

/** Lists trees that were sealed while the server had no key. */
export const listUnsigned = (db: Sql, take: number) =>
  db.rows<Tree>(
    `select ${treeColumns} from audit_trees where checkpoint is null and broken_at is null order by org_id limit $1`,
    [take],
  )

export interface StoredNode extends Node {
  orgId: string
  hash: string
}

/** Leaves are level 0. Uses subqueries: a join would read both tables whole if the planner takes them for small. */
export const findNodes = (db: Sql, nodes: (Node & { orgId: string })[]) =>
  db.rows<StoredNode>(
    `select w.org_id, w.level, w.position,
            translate(encode(case when w.level > 0 then (select n.hash from audit_nodes n
                                    where n.org_id = w.org_id and n.level = w.level and n.position = w.position)
                                  else (select l.hash from audit_leaves l
                                         where l.org_id = w.org_id and l.position = w.position) end, 'base64'),
                      E'\\n', '') as hash
       from unnest($1::text[], $2::int[], $3::bigint[]) as w(org_id, level, position)`,
    [nodes.map((node) => node.orgId), nodes.map((node) => node.level), nodes.map((node) => node.position)],
  )

/** Consecutive leaves in the tree of an organization. */
export interface LeafRun {
  orgId: string
  /** The position of the first. */
  start: number
  leaves: readonly NewLeaf[]
}

export interface NewLeaf {
  entryId: string
  createdAt: string
  hash: Buffer
}

/** Inserts runs of leaves. Each column of a run is one value, because an array would be read and built item by item. */
export const insertLeaves = (tx: Tx, runs: readonly LeafRun[]) =>
  tx.rows(
    `insert into audit_leaves (org_id, position, entry_id, created_at, hash)
     select run.org_id, run.start + leaf.n - 1, leaf.entry_id, leaf.created_at::timestamptz,
            substring(run.hashes from (32 * (leaf.n - 1) + 1)::int for 32)
       from unnest($1::text[], $2::bigint[], $3::text[], $4::text[], $5::bytea[])
              as run(org_id, start, entry_ids, instants, hashes),
            unnest(string_to_array(run.entry_ids, ','), string_to_array(run.instants, ',')) with ordinality
              as leaf(entry_id, created_at, n)`,
    [
      runs.map(({ orgId }) => orgId),
      runs.map(({ start }) => start),
      runs.map(({ leaves }) => leaves.map(({ entryId }) => entryId).join(',')),
      runs.map(({ leaves }) => leaves.map(({ createdAt }) => createdAt).join(',')),
      runs.map(({ leaves }) => Buffer.concat(leaves.map(({ hash }) => hash))),
    ],
  )

export const insertNodes = (tx: Tx, nodes: StoredNode[]) =>
  tx.rows(
    `insert into audit_nodes (org_id, level, position, hash)
     select org_id, level, position, decode(hash, 'base64')
       from unnest($1::text[], $2::int[], $3::bigint[], $4::text[]) as given(org_id, level, position, hash)`,
    [
      nodes.map((node) => node.orgId),
      nodes.map((node) => node.level),
      nodes.map((node) => node.position),
      nodes.map((node) => node.hash),
    ],
  )

export const saveTrees = (tx: Tx, trees: Omit<Tree, 'grownAt' | 'brokenAt'>[], now: string) =>
  tx.rows(
    `insert into audit_trees (org_id, size, root, checkpoint, grown_at)
     select org_id, size, decode(root, 'base64'), checkpoint, $5::timestamptz
       from unnest($1::text[], $2::bigint[], $3::text[], $4::text[]) as given(org_id, size, root, checkpoint)
     on conflict (org_id) do update
       set size = excluded.size, root = excluded.root, checkpoint = excluded.checkpoint, grown_at = excluded.grown_at`,
    [
      trees.map((tree) => tree.orgId),
      trees.map((tree) => tree.size),
      trees.map((tree) => tree.root),
      trees.map((tree) => tree.checkpoint),
      now,
    ],
  )

export const findLeaf = (db: Sql, org: { id: string }, entryId: string) =>
  db.row<{ position: number }>('select position from audit_leaves where org_id = $1 and entry_id = $2', [
    org.id,
    entryId,
  ])

export interface Leaf {
  index: number
  entryId: string
  createdAt: string
  hash: string
  entry: Entry | null
}

/** Lists leaves in the order of the tree, each with its entry, or with null if somebody removed it. */
export async function listLeaves(db: Sql, org: { id: string }, from: number, to: number): Promise<Leaf[]> {
  const rows = await db.rows<Entry & { position: number; entryId: string; sealedAt: string; hash: string }>(
    `select l.position, l.entry_id, l.created_at as sealed_at,
            translate(encode(l.hash, 'base64'), E'\\n', '') as hash, ${entryColumnsOf('e')}
       from audit_leaves l
       left join audit_entries e on e.org_id = l.org_id and e.created_at = l.created_at and e.id = l.entry_id
      where l.org_id = $1 and l.position >= $2 and l.position < $3 order by l.position`,
    [org.id, from, to],
  )
  return rows.map(({ position, entryId, sealedAt, hash, ...entry }) => ({
    index: position,
    entryId,
    createdAt: sealedAt,
    hash,
    entry: entry.id === null ? null : entry,
  }))
}

/** Inserts the entries of an archive. They keep their ids and instants. */
export const insertEntries = (tx: Tx, org: { id: string }, entries: readonly Entry[]) =>
  tx.rows(
    `insert into audit_entries (org_id, id, action, actor_type, actor_id, resource_type, resource_id, metadata, ip_address,
                                user_agent, request_id, created_at)
     select $1, id, action, "actorType", "actorId", "resourceType", "resourceId", metadata, "ipAddress", "userAgent",
            "requestId", "createdAt"
       from jsonb_to_recordset($2::jsonb) as given(
         id text, action text, "actorType" text, "actorId" text, "resourceType" text, "resourceId" text, metadata jsonb,
         "ipAddress" text, "userAgent" text, "requestId" text, "createdAt" timestamptz)`,
    [org.id, JSON.stringify(entries)],
  )

/** @param month the first day of the month */
export const makePartition = (tx: Tx, month: string) => tx.rows('select create_audit_partition($1::date)', [month])
