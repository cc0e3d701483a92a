import type { Sql } from '../../db/database.ts'
import type { KeysetCursor } from '../../http/page.ts'
import type { Org } from '../orgs/scope.ts'
import { type Entry, entryColumnsOf } from './scope.ts'

export interface Filter {
  action?: string | undefined
  resourceType?: string | undefined
  resourceId?: string | undefined
  actorId?: string | undefined
  requestId?: string | undefined
  text?: string | undefined
  /** Ids whose names have the text. */
  named: readonly string[]
  /** Stored instants: from the first on, before the second. */
  since?: string | undefined
  until?: string | undefined
}

/** The entries that a filter means; its values are the first ten of a statement. */
const matching = `org_id = $1
        and ($2::text is null or action = $2) and ($3::text is null or resource_type = $3)
        and ($4::text is null or resource_id = $4) and ($5::text is null or actor_id = $5)
        and ($6::text is null or request_id = $6)
        and ($7::text is null or actor_id = any($8::text[]) or resource_id = any($8)
             or exists (select from jsonb_each_text(metadata) told where position(lower($7) in lower(told.value)) > 0))
        and ($9::timestamptz is null or created_at >= $9) and ($10::timestamptz is null or created_at < $10)`

const valuesOf = (org: Org, filter: Filter) => [
  ...[org.id, filter.action, filter.resourceType, filter.resourceId, filter.actorId, filter.requestId],
  ...[filter.text, filter.named, filter.since, filter.until],
]

export const listEntries = (db: Sql, org: Org, filter: Filter, cursor: KeysetCursor) =>
  db.rows<Entry>(
    `select ${entryColumnsOf('audit_entries')}
       from audit_entries
      where ${matching} and ($11::timestamptz is null or (created_at, id) < ($11, $12))
      order by created_at desc, id desc limit $13`,
    [...valuesOf(org, filter), cursor.at, cursor.id, cursor.take],
  )

/** By the hour or the day, of UTC, in which they were written. */
export const countEntries = (db: Sql, org: Org, filter: Filter, step: 'hour' | 'day') =>
  db.rows<{ at: string; resourceType: string; entries: number }>(
    `select date_trunc($11, created_at, 'UTC') as at, resource_type, count(*)::int as entries
       from audit_entries where ${matching} group by 1, 2`,
    [...valuesOf(org, filter), step],
  )
