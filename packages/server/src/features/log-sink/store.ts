import type { Sql, Tx } from '../../db/database.ts'
import { type Entry, entryColumnsOf } from '../audit/scope.ts'

export interface Sink {
  orgId: string
  endpoint: string
  enabled: boolean
  headerNames: string[]
  sealedHeaders: string
  /** How many entries of the organization's tree were sent or skipped. */
  position: number
  rejected: number
  /** How often in a row the delivery has failed. */
  tries: number
  lastAttemptAt: string | null
  lastSuccessAt: string | null
  lastError: string | null
  createdAt: string
  waiting: number
}

const columns = `s.org_id, s.endpoint, s.enabled, s.header_names, s.sealed_headers, s.position, s.rejected, s.tries,
  s.last_attempt_at, s.last_success_at, s.last_error, s.created_at,
  coalesce((select t.size from audit_trees t where t.org_id = s.org_id), 0) - s.position as waiting`

export const findSink = (db: Sql, org: { id: string }) =>
  db.row<Sink>(`select ${columns} from log_sinks s where s.org_id = $1`, [org.id])

/** Locks the sink against other changes until commit. */
export const lockSink = (tx: Tx, org: { id: string }) =>
  tx.row<Sink>(`select ${columns} from log_sinks s where s.org_id = $1 for update`, [org.id])

/** A new sink starts after the sealed entries. An existing one keeps its position, and its failures are reset. */
export const saveSink = (
  tx: Tx,
  org: { id: string },
  one: { endpoint: string; enabled: boolean; headerNames: string[]; sealedHeaders: string; now: string },
) =>
  tx.rows(
    `insert into log_sinks (org_id, endpoint, enabled, header_names, sealed_headers, position, due_at, created_at, updated_at)
     values ($1::text, $2, $3, $4, $5, coalesce((select t.size from audit_trees t where t.org_id = $1::text), 0), $6, $6, $6)
     on conflict (org_id) do update
       set endpoint = excluded.endpoint, enabled = excluded.enabled, header_names = excluded.header_names,
           sealed_headers = excluded.sealed_headers, tries = 0, due_at = excluded.due_at, last_error = null,
           updated_at = excluded.updated_at`,
    [org.id, one.endpoint, one.enabled, JSON.stringify(one.headerNames), one.sealedHeaders, one.now],
  )

export const deleteSink = (tx: Tx, org: { id: string }) =>
  tx.row<{ endpoint: string }>('delete from log_sinks where org_id = $1 returning endpoint', [org.id])

export const listDueSinks = (db: Sql, now: string) =>
  db.rows<{ orgId: string }>(
    `select s.org_id from log_sinks s join audit_trees t on t.org_id = s.org_id
      where s.enabled and s.due_at <= $1 and t.size > s.position order by s.due_at`,
    [now],
  )

/** A signed statement of the server about the whole audit log. */
export interface Checkpoint {
  note: string
  size: number
  signedAt: string
}

/** Returns undefined if there is no checkpoint yet: nothing is sealed, or the server has no key. */
export const findCheckpoint = (db: Sql, { orgId }: Sink) =>
  db.row<Checkpoint>(
    'select checkpoint as note, size, grown_at as signed_at from audit_trees where org_id = $1 and checkpoint is not null',
    [orgId],
  )

/** Lists the next entries in the order of the tree. Skips entries that were removed or are older than the sink. */
export async function listNext(db: Sql, { orgId, position, createdAt }: Sink, take: number) {
  const rows = await db.rows<Entry & { position: number }>(
    `select l.position, ${entryColumnsOf('e')} from audit_leaves l
       left join audit_entries e
         on e.org_id = l.org_id and e.created_at = l.created_at and e.id = l.entry_id and e.created_at >= $3
      where l.org_id = $1 and l.position >= $2 order by l.position limit $4`,
    [orgId, position, createdAt, take],
  )
  const entries: Entry[] = rows.flatMap(({ position: _, ...entry }) => (entry.id === null ? [] : [entry]))
  return { entries, next: position + rows.length, isLast: rows.length < take }
}

/** Returns undefined if the sink was removed meanwhile, or if another server has sent the same entries. */
export const recordAccepted = (
  db: Sql,
  { orgId, position }: Sink,
  one: { next: number; rejected: number; lastError: string | null; now: string },
) =>
  db.row(
    `update log_sinks set position = $3, rejected = rejected + $4, last_error = $5, tries = 0, due_at = $6,
            last_attempt_at = $6, last_success_at = $6
      where org_id = $1 and position = $2 returning 1`,
    [orgId, position, one.next, one.rejected, one.lastError, one.now],
  )

export const recordFailed = (
  db: Sql,
  { orgId, position }: Sink,
  one: { lastError: string; dueAt: string; now: string },
) =>
  db.rows(
    `update log_sinks set tries = tries + 1, last_error = $3, due_at = $4, last_attempt_at = $5
      where org_id = $1 and position = $2`,
    [orgId, position, one.lastError, one.dueAt, one.now],
  )

/** Returns undefined if the sink was changed meanwhile, because the refusal may not be about the new settings. */
export const disableSink = (tx: Tx, sink: Sink, lastError: string, now: string) =>
  tx.row(
    `update log_sinks set enabled = false, last_error = $4, last_attempt_at = $5
      where org_id = $1 and endpoint = $2 and sealed_headers = $3 and enabled returning 1`,
    [sink.orgId, sink.endpoint, sink.sealedHeaders, lastError, now],
  )
