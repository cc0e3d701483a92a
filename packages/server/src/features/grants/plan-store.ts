import type { Sql } from '../../db/database.ts'
import type { Org } from '../orgs/scope.ts'

export const isMember = async (db: Sql, org: Org, userId: string): Promise<boolean> =>
  (await db.row('select 1 from memberships where org_id = $1 and user_id = $2', [org.id, userId])) !== undefined

export const listPlanned = async (db: Sql, org: Org, userId: string): Promise<string[]> =>
  (
    await db.rows<{ environmentId: string }>(
      'select environment_id from planned_grants where org_id = $1 and user_id = $2 order by environment_id',
      [org.id, userId],
    )
  ).map(({ environmentId }) => environmentId)
