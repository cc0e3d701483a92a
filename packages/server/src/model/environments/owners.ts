import type { Sql, Tx } from '../../db/database.ts'

// The tables `applications` and `groups`. Both own environments, and their rows have the same columns, so they share
// their statements.

/** The columns of both tables. */
export const ownerColumns = 'id, org_id, name, slug, created_at, updated_at'

/** An application or a group. */
export interface Owner {
  id: string
  orgId: string
}

/** The start of a page of a list, from `pageFrom` in http/page.ts. */
interface Page {
  at: string | null
  id: string | null
  take: number | null
}

/** The statements of one of the two tables. Its name is a constant of the code, so the texts are constants too. */
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
    list: (db: Sql, org: { id: string }, { at, id, take }: Page) => db.rows<Row>(list, [org.id, at, id, take]),
    /** Returns undefined if the slug is in use. */
    insert: (db: Tx, org: { id: string }, row: { id: string; name: string; slug: string; now: string }) =>
      db.row<Row>(insert, [org.id, row.id, row.name, row.slug, row.now]),
    /** Returns undefined if somebody else has deleted the row since it was found. */
    rename: (db: Tx, owner: Owner, name: string, now: string) =>
      db.row<Row>(rename, [owner.orgId, owner.id, name, now]),
    /** Returns false if somebody else has deleted the row since it was found. */
    delete: async (db: Tx, owner: Owner): Promise<boolean> =>
      (await db.row(remove, [owner.orgId, owner.id])) !== undefined,
  }
}
