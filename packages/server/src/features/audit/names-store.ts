import type { AuditEnvironment as Schema } from '@skerry/contract/audit/schemas'
import type { Static } from 'typebox'
import type { Sql } from '../../db/database.ts'
import type { Org } from '../orgs/scope.ts'

type AuditEnvironment = Static<typeof Schema>

/** Queries `select id, name` about organization $1, from the descriptors of features. */
type NameQueries = readonly string[]

/** Ids of organization $1 with their present names. */
const named = (queries: NameQueries) => `(${queries.join(' union all ')}) named (id, name)`

export async function namesOf(
  db: Sql,
  queries: NameQueries,
  org: Org,
  ids: readonly string[],
): Promise<Record<string, string>> {
  const rows = await db.rows<{ id: string; name: string }>(
    `select id, name from ${named(queries)} where id = any($2::text[])`,
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

/** The id of an application, and those of its present environments and branches. */
export async function placesIn(db: Sql, org: Org, applicationId: string): Promise<string[]> {
  const rows = await db.rows<{ id: string }>('select id from environments where org_id = $1 and application_id = $2', [
    org.id,
    applicationId,
  ])
  return [applicationId, ...rows.map(({ id }) => id)]
}

const namesMax = 10_000

/** Ids whose names contain the text, in upper or lower case. Each kind of name has its own limit: secrets may be many. */
export const listNamed = (db: Sql, queries: NameQueries, org: Org, text: string) => {
  const parts = queries.map(
    (query) =>
      `(select id from (${query}) named (id, name) where position(lower($2) in lower(name)) > 0 limit ${namesMax})`,
  )
  return db.rows<{ id: string }>(parts.join(' union all '), [org.id, text])
}
