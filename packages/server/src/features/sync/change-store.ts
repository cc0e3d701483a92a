import type { Sql, Tx } from '../../db/database.ts'
import { type Binding, bindingColumns } from './scope.ts'

/** A batch is small, so that its transaction stays short. */
export const changesAtOnce = 2000

/** Takes a batch of changes and deletes their rows. Each change is processed by one server. */
export const takeChanges = (db: Tx) =>
  db.rows<{ orgId: string; environmentId: string | null }>(
    `with taken as (
       delete from sync_changes where (org_id, id) in (
         select org_id, id from sync_changes order by id limit $1 for update skip locked)
       returning org_id, environment_id)
     select distinct org_id, environment_id from taken`,
    [changesAtOnce],
  )

/** Lists automatic bindings that read an environment that has changed. */
export const listConcerned = (db: Sql, orgId: string, environmentIds: readonly string[], all: boolean) =>
  db.rows<Binding>(
    `select ${bindingColumns} from sync_bindings b
      where b.org_id = $1 and b.enabled and b.mode = 'auto'
        and ($3 or exists (select from sync_layers l where l.org_id = b.org_id and l.binding_id = b.id
                              and l.environment_id = any($2::text[])))
      order by b.id`,
    [orgId, environmentIds, all],
  )

export interface Ending {
  orgId: string
  bindingId: string
  connectionId: string
  environmentId: string
}

export const takeEndings = (db: Tx, of: { orgId: string; bindingIds: readonly string[] } | null) =>
  db.rows<Ending>(
    `delete from sync_endings where $1::text is null or org_id = $1 and binding_id = any($2::text[])
     returning org_id, binding_id, connection_id, environment_id`,
    [of?.orgId ?? null, of?.bindingIds ?? []],
  )

export const listDue = (db: Sql, now: string) =>
  db.rows<{ orgId: string; id: string }>(
    `select org_id, id from sync_bindings where next_try_at <= $1 and enabled order by next_try_at`,
    [now],
  )
