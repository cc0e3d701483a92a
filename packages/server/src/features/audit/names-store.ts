import type { Sql } from '../../db/database.ts'
import type { Org } from '../orgs/scope.ts'

/** Ids of organization $1 with the names that they have now. Of people, those who are members. */
const named = `
  select m.user_id as id, coalesce(u.name, u.email, u.id) as name
    from memberships m join users u on u.id = m.user_id where m.org_id = $1
  union all select id, name from service_tokens where org_id = $1 and deleted_at is null
  union all select id, name from machine_clients where org_id = $1
  union all select id, name from applications where org_id = $1
  union all select id, name from groups where org_id = $1
  union all select id, name from environments where org_id = $1
  union all select id, name from secrets where org_id = $1
  union all select id, name from kms_keys where org_id = $1 and deleted_at is null
  union all select id, name from lease_targets where org_id = $1
  union all select id, secret_name from rotation_policies where org_id = $1
  union all select id, name from sync_connections where org_id = $1
  union all select id, name from agents where org_id = $1`

export async function namesOf(db: Sql, org: Org, ids: readonly string[]): Promise<Record<string, string>> {
  const rows = await db.rows<{ id: string; name: string }>(
    `select id, name from (${named}) named where id = any($2::text[])`,
    [org.id, ids],
  )
  return Object.fromEntries(rows.map(({ id, name }) => [id, name]))
}

/** Those that have the text in their names, in either case of its letters. */
export const listNamed = (db: Sql, org: Org, text: string) =>
  db.rows<{ id: string }>(`select id from (${named}) named where position(lower($2) in lower(name)) > 0 limit 10000`, [
    org.id,
    text,
  ])
