import type { Sql } from '../../db/database.ts'
import type { KeysetCursor } from '../../http/page.ts'
import type { Org } from '../orgs/scope.ts'
import { type Entry, entryColumnsOf } from './scope.ts'

interface Filter {
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

export const listEntries = (db: Sql, org: Org, filter: Filter, cursor: KeysetCursor) =>
  db.rows<Entry>(
    `select ${entryColumnsOf('audit_entries')}
       from audit_entries
      where org_id = $1
        and ($2::text is null or action = $2) and ($3::text is null or resource_type = $3)
        and ($4::text is null or resource_id = $4) and ($5::text is null or actor_id = $5)
        and ($6::timestamptz is null or (created_at, id) < ($6, $7))
        and ($9::text is null or request_id = $9)
        and ($12::text is null or actor_id = any($13::text[]) or resource_id = any($13)
             or exists (select from jsonb_each_text(metadata) told where position(lower($12) in lower(told.value)) > 0))
        and ($10::timestamptz is null or created_at >= $10) and ($11::timestamptz is null or created_at < $11)
      order by created_at desc, id desc limit $8`,
    [
      org.id,
      filter.action,
      filter.resourceType,
      filter.resourceId,
      filter.actorId,
      cursor.at,
      cursor.id,
      cursor.take,
      filter.requestId,
      filter.since,
      filter.until,
      filter.text,
      filter.named,
    ],
  )
