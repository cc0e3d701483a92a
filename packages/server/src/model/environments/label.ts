import type { Sql } from '../../db/database.ts'

/** SQL of an environment’s label: `web/production`, `web/production@pr-7` or `shared:production`. */
export const environmentLabel = `coalesce(gr.slug || ':' || e.slug, a.slug || '/' || case
  when e.parent_environment_id is null then e.slug else p.slug || '@' || e.slug end)`

/** The joins that `environmentLabel` needs, after `environments e`. */
export const labelJoins = `left join environments p on p.org_id = e.org_id and p.id = e.parent_environment_id
       left join applications a on a.org_id = e.org_id and a.id = e.application_id
       left join groups gr on gr.org_id = e.org_id and gr.id = e.group_id`

/** Finds the label of an environment for texts that people read. It is empty if the environment was deleted. */
export async function findEnvironmentLabel(db: Sql, orgId: string, environmentId: string): Promise<string> {
  const row = await db.row<{ label: string }>(
    `select ${environmentLabel} as label from environments e ${labelJoins} where e.org_id = $1 and e.id = $2`,
    [orgId, environmentId],
  )
  return row?.label ?? ''
}
