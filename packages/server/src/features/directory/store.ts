import type { Sql, Tx } from '../../db/database.ts'
import type { Newest, Reader, StoredHead, StoredRoot } from '../../keys/directory.ts'

const headColumns = 'h.version, h.hash, h.root_version, h.text, h.count, h.entries'

export const findHead = (db: Sql, orgId: string, version: number) =>
  db.row<StoredHead>(`select ${headColumns} from directory_heads h where h.org_id = $1 and h.version = $2`, [
    orgId,
    version,
  ])

export const findNewestHead = (db: Sql, orgId: string) =>
  db.row<StoredHead>(
    `select ${headColumns} from directory_heads h where h.org_id = $1 order by h.version desc limit 1`,
    [orgId],
  )

/** The newest head always names the newest root. */
export async function findNewest(db: Sql, orgId: string): Promise<Newest | null> {
  const head = await findNewestHead(db, orgId)
  if (!head) return null
  const root = await db.row<StoredRoot>(
    'select version, hash, text from directory_roots where org_id = $1 and version = $2',
    [orgId, head.rootVersion],
  )
  return { root: root as StoredRoot, head }
}

/** Returns whether it was the next one. A transaction that stores the same version at the same time is waited for. */
export async function insertRoot(db: Tx, orgId: string, { version, hash, text }: StoredRoot, now: string) {
  const row = await db.row(
    `insert into directory_roots (org_id, version, hash, text, created_at) values ($1, $2, $3, $4, $5)
     on conflict do nothing returning 1`,
    [orgId, version, hash, text, now],
  )
  return row !== undefined
}

/** Inserts a head as {@link insertRoot} inserts a root. Until commit, nobody else changes the directory. */
export async function insertHead(db: Tx, orgId: string, head: StoredHead, now: string) {
  const { version, hash, rootVersion, text, count, entries } = head
  const row = await db.row(
    `insert into directory_heads (org_id, version, hash, root_version, text, count, entries, created_at)
     values ($1, $2, $3, $4, $5, $6, $7, $8) on conflict do nothing returning 1`,
    [orgId, version, hash, rootVersion, text, count, entries, now],
  )
  return row !== undefined
}

/** Ends the entries with these keys at a head, and begins those that have a text. */
export async function replaceEntries(
  db: Tx,
  orgId: string,
  head: number,
  changed: readonly { key: string; text: string | null }[],
): Promise<void> {
  await db.rows(
    'update directory_entries set to_head = $2 where org_id = $1 and key = any($3::text[]) and to_head is null',
    [orgId, head, changed.map(({ key }) => key)],
  )
  const begun = changed.filter(({ text }) => text !== null)
  await db.rows(
    `insert into directory_entries (org_id, key, from_head, text)
     select $1, given.key, $2, given.text from unnest($3::text[], $4::text[]) as given(key, text)`,
    [orgId, head, begun.map(({ key }) => key), begun.map(({ text }) => text)],
  )
}

/** SQL condition on `directory_entries`: the head of this version has the entry. */
const isIn = (head: `$${number}`) => `from_head <= ${head} and (to_head is null or to_head > ${head})`

/** The texts of all entries of a head, by key. */
export async function listTexts(db: Sql, orgId: string, head: number): Promise<Map<string, string>> {
  const rows = await db.rows<{ key: string; text: string }>(
    `select key, text from directory_entries where org_id = $1 and ${isIn('$2')}`,
    [orgId, head],
  )
  return new Map(rows.map(({ key, text }) => [key, text]))
}

export const listEntries = (db: Sql, orgId: string, head: number, after: string | null, take: number) =>
  db.rows<{ key: string; text: string }>(
    `select key, text from directory_entries
      where org_id = $1 and ${isIn('$2')} and ($3::text is null or key > $3)
      order by key limit $4`,
    [orgId, head, after, take],
  )

/** The roots up to a version, from the oldest of those with these hashes; all if there is none of them. */
export async function listRoots(db: Sql, orgId: string, to: number, hashes: readonly string[], max: number) {
  const rows = await db.rows<{ text: string }>(
    `select text from directory_roots
      where org_id = $1 and version <= $2 and version > $2 - $4::int
        and version >= coalesce((select min(r.version) from directory_roots r where r.org_id = $1 and r.hash = any($3::text[])), 1)
      order by version`,
    [orgId, to, hashes, max],
  )
  return rows.map(({ text }) => text)
}

/** The heads after a version, up to another one. That one is always among them. */
export async function listHeads(db: Sql, orgId: string, after: number, to: number, max: number) {
  const rows = await db.rows<{ text: string }>(
    `select text from directory_heads
      where org_id = $1 and version <= $3 and version > least($2, $3 - 1) and version > $3 - $4::int order by version`,
    [orgId, after, to, max],
  )
  return rows.map(({ text }) => text)
}

/** Keeps the list of readers behind each hash. */
export const insertReaders = (db: Tx, orgId: string, lists: readonly { hash: string; readers: readonly Reader[] }[]) =>
  db.rows(
    `insert into directory_readers (org_id, hash, readers)
     select $1, given.hash, given.readers from unnest($2::text[], $3::jsonb[]) as given(hash, readers)
     on conflict do nothing`,
    [orgId, lists.map(({ hash }) => hash), lists.map(({ readers }) => JSON.stringify(readers))],
  )

/** The readers behind the newest entries with these keys. */
export async function listSignedReaders(
  db: Sql,
  orgId: string,
  keys: readonly string[],
): Promise<ReadonlyMap<string, [string, string][]>> {
  const rows = await db.rows<{ key: string; readers: [string, string][] }>(
    `select e.key, r.readers
       from directory_entries e
       join directory_readers r on r.org_id = e.org_id and r.hash = e.text::jsonb -> 1 ->> 'readers'
      where e.org_id = $1 and e.key = any($2::text[]) and e.to_head is null`,
    [orgId, keys],
  )
  return new Map(rows.map(({ key, readers }) => [key, readers]))
}
