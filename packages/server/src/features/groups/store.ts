import type { Group as GroupRow } from '@skerry/contract/groups'
import type { Static } from 'typebox'
import { groupColumns } from '../../db/columns.ts'
import type { Sql, Tx } from '../../db/database.ts'
import type { Mark } from '../../http/page.ts'
import type { Group, Org } from '../../http/scope.ts'

type Row = Static<typeof GroupRow>

export const listGroups = (db: Sql, org: Org, mark: Mark) =>
  db.rows<Row>(
    `select ${groupColumns} from groups
      where org_id = $1 and ($2::timestamptz is null or (created_at, id) > ($2, $3))
      order by created_at, id limit $4`,
    [org.id, mark.at, mark.id, mark.take],
  )

/** Undefined where the slug is taken. */
export const insertGroup = (db: Tx, org: Org, group: { id: string; name: string; slug: string; now: string }) =>
  db.row<Row>(
    `insert into groups (org_id, id, name, slug, created_at, updated_at) values ($1, $2, $3, $4, $5, $5)
     on conflict (org_id, slug) do nothing
     returning ${groupColumns}`,
    [org.id, group.id, group.name, group.slug, group.now],
  )

export async function renameGroup(db: Tx, group: Group, name: string, now: string): Promise<Row> {
  const row = await db.row<Row>(
    `update groups set name = $3, updated_at = $4 where org_id = $1 and id = $2 returning ${groupColumns}`,
    [group.orgId, group.id, name, now],
  )
  return row as Row
}

export const deleteGroup = (db: Tx, group: Group) =>
  db.rows('delete from groups where org_id = $1 and id = $2', [group.orgId, group.id])
