import type { AuditEnvironment as Schema } from '@skerry/contract/audit/schemas'
import type { Static } from 'typebox'
import type { Sql } from '../../db/database.ts'
import type { Org } from '../orgs/scope.ts'

type AuditEnvironment = Static<typeof Schema>

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

interface EnvironmentRow {
  id: string
  name: string
  slug: string
  parentName: string | null
  parentSlug: string | null
  ownerType: 'application' | 'group'
  ownerName: string
  ownerSlug: string
}

/** Environments by id, with their present names, the parent of a branch, and the application or group. */
export async function environmentsOf(
  db: Sql,
  org: Org,
  ids: readonly string[],
): Promise<Record<string, AuditEnvironment>> {
  if (ids.length === 0) return {}
  const rows = await db.rows<EnvironmentRow>(
    `select e.id, e.name, e.slug, p.name as parent_name, p.slug as parent_slug,
            case when a.id is null then 'group' else 'application' end as owner_type,
            coalesce(a.name, g.name) as owner_name, coalesce(a.slug, g.slug) as owner_slug
       from environments e
       left join environments p on p.org_id = e.org_id and p.id = e.parent_environment_id
       left join applications a on a.org_id = e.org_id and a.id = e.application_id
       left join groups g on g.org_id = e.org_id and g.id = e.group_id
      where e.org_id = $1 and e.id = any($2::text[])`,
    [org.id, ids],
  )
  return Object.fromEntries(
    rows.map(({ id, name, slug, parentName, parentSlug, ownerType, ownerName, ownerSlug }) => {
      const parent = parentName === null || parentSlug === null ? null : { name: parentName, slug: parentSlug }
      return [id, { name, slug, parent, owner: { type: ownerType, name: ownerName, slug: ownerSlug } }]
    }),
  )
}

/** Those that have the text in their names, in either case of its letters. */
export const listNamed = (db: Sql, org: Org, text: string) =>
  db.rows<{ id: string }>(`select id from (${named}) named where position(lower($2) in lower(name)) > 0 limit 10000`, [
    org.id,
    text,
  ])
