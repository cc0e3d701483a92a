import type { Application } from '@skerry/contract/apps'
import type { Static } from 'typebox'
import { applicationColumns } from '../../db/columns.ts'
import type { Sql, Tx } from '../../db/database.ts'
import type { Mark } from '../../http/page.ts'
import type { App, Org } from '../../http/scope.ts'

type Row = Static<typeof Application>

export const listApps = (db: Sql, org: Org, mark: Mark) =>
  db.rows<Row>(
    `select ${applicationColumns} from applications
      where org_id = $1 and ($2::timestamptz is null or (created_at, id) > ($2, $3))
      order by created_at, id limit $4`,
    [org.id, mark.at, mark.id, mark.take],
  )

/** Undefined where the slug is taken. */
export const insertApp = (db: Tx, org: Org, app: { id: string; name: string; slug: string; now: string }) =>
  db.row<Row>(
    `insert into applications (org_id, id, name, slug, created_at, updated_at) values ($1, $2, $3, $4, $5, $5)
     on conflict (org_id, slug) do nothing
     returning ${applicationColumns}`,
    [org.id, app.id, app.name, app.slug, app.now],
  )

export async function renameApp(db: Tx, app: App, name: string, now: string): Promise<Row> {
  const row = await db.row<Row>(
    `update applications set name = $3, updated_at = $4 where org_id = $1 and id = $2 returning ${applicationColumns}`,
    [app.orgId, app.id, name, now],
  )
  return row as Row
}

export const deleteApp = (db: Tx, app: App) =>
  db.rows('delete from applications where org_id = $1 and id = $2', [app.orgId, app.id])
