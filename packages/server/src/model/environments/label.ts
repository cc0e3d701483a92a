import type { Sql } from '../../db/database.ts'

/** SQL of an environment’s label: `web/production`, `web/production@pr-7` or `shared:production`. */
export const environmentLabel = `coalesce(gr.slug || ':' || e.slug, a.slug || '/' || case
  when e.parent_environment_id is null then e.slug else p.slug || '@' || e.slug end)`

/** The joins that `environmentLabel` needs, after `environments e`. */
export const labelJoins = `left join environments p on p.org_id = e.org_id and p.id = e.parent_environment_id
       left join applications a on a.org_id = e.org_id and a.id = e.application_id
       left join groups gr on gr.org_id = e.org_id and gr.id = e.group_id`

export interface EnvironmentNames {
  label: string
  /** The slug of the organization. */
  organization: string
}

/** Finds the names of an environment for texts that people read. They are empty if it was deleted. */
export const findEnvironmentNames = async (db: Sql, orgId: string, environmentId: string): Promise<EnvironmentNames> =>
  (await db.row<EnvironmentNames>(
    `select ${environmentLabel} as label, o.slug as organization
       from environments e
       join organizations o on o.id = e.org_id
       ${labelJoins}
      where e.org_id = $1 and e.id = $2`,
    [orgId, environmentId],
  )) ?? { label: '', organization: '' }
