import type { Sql, Tx } from '../../db/database.ts'
import type { KeysetCursor } from '../../http/page.ts'
import type { Org } from '../orgs/scope.ts'

/** Of applications and groups. */
export const ownerColumns = 'id, org_id, name, slug, created_at, updated_at'

/** What applications and groups have in common: both own environments, and their rows are alike. */
export interface Owner {
  id: string
  orgId: string
}

/** The queries of a table of owners of environments. The table is a constant of the code, so the texts are too. */
export function ownersIn<Row extends Owner>(table: 'applications' | 'groups') {
  const list = `
    select ${ownerColumns} from ${table}
     where org_id = $1 and ($2::timestamptz is null or (created_at, id) > ($2, $3))
     order by created_at, id limit $4`
  const insert = `
    insert into ${table} (org_id, id, name, slug, created_at, updated_at) values ($1, $2, $3, $4, $5, $5)
    on conflict (org_id, slug) do nothing
    returning ${ownerColumns}`
  const rename = `
    update ${table} set name = $3, updated_at = $4 where org_id = $1 and id = $2 returning ${ownerColumns}`
  const remove = `delete from ${table} where org_id = $1 and id = $2 returning id`
  return {
    list: (db: Sql, org: Org, cursor: KeysetCursor) => db.rows<Row>(list, [org.id, cursor.at, cursor.id, cursor.take]),
    /** Undefined where the slug is taken. */
    insert: (db: Tx, org: Org, row: { id: string; name: string; slug: string; now: string }) =>
      db.row<Row>(insert, [org.id, row.id, row.name, row.slug, row.now]),
    /** Undefined where it has been deleted since it was found. */
    rename: (db: Tx, owner: Owner, name: string, now: string) =>
      db.row<Row>(rename, [owner.orgId, owner.id, name, now]),
    /** False where somebody else has deleted it since it was found. */
    delete: async (db: Tx, owner: Owner): Promise<boolean> =>
      (await db.row(remove, [owner.orgId, owner.id])) !== undefined,
  }
}
