import type { Sql, Tx } from '../../db/database.ts'

/** Entries of the tree, from `start` to before `size`, that are in an archive file and no longer in the database. */
export interface AuditArchive {
  start: number
  size: number
  /** SHA-256 of the file, in hex. */
  sha256: string
  createdAt: string
}

export const listArchives = (db: Sql, org: { id: string }) =>
  db.rows<AuditArchive>('select start, size, sha256, created_at from audit_archives where org_id = $1 order by start', [
    org.id,
  ])

export const insertArchives = (tx: Tx, org: { id: string }, archives: readonly AuditArchive[]) =>
  tx.rows(
    `insert into audit_archives (org_id, start, size, sha256, created_at)
     select $1, start, size, sha256, "createdAt" from jsonb_to_recordset($2::jsonb)
         as given(start bigint, size bigint, sha256 text, "createdAt" timestamptz)`,
    [org.id, JSON.stringify(archives)],
  )

/** Returns the index of the first leaf, from `start` on, at or after an instant; undefined if there is none. */
export const findFirstSince = async (db: Sql, org: { id: string }, start: number, instant: string) =>
  (
    await db.row<{ position: number }>(
      `select position from audit_leaves where org_id = $1 and position >= $2 and created_at >= $3
        order by position limit 1`,
      [org.id, start, instant],
    )
  )?.position

/** Returns how many entries the log sink has sent or skipped; undefined if there is no log sink. */
export const findSent = async (db: Sql, org: { id: string }) =>
  (await db.row<{ position: number }>('select position from log_sinks where org_id = $1', [org.id]))?.position

/** Deletes archived entries. The database refuses to delete entries that `audit_archives` does not name. */
export const deleteArchived = async (tx: Tx, org: { id: string }, { start, size }: AuditArchive): Promise<number> =>
  (
    await tx.row<{ count: number }>(
      `with gone as (
         delete from audit_entries e using audit_leaves l
          where l.org_id = $1 and l.position >= $2 and l.position < $3
            and e.org_id = l.org_id and e.created_at = l.created_at and e.id = l.entry_id
         returning 1)
       select count(*) as count from gone`,
      [org.id, start, size],
    )
  )?.count ?? 0
