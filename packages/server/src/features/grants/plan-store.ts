import type { Sql, Tx } from '../../db/database.ts'
import type { Org } from '../orgs/scope.ts'

/** Locks the membership until commit. Returns false if the person is not a member. */
export const isMemberLocked = async (db: Tx, org: Org, userId: string): Promise<boolean> =>
  (await db.row('select 1 from memberships where org_id = $1 and user_id = $2 for key share', [org.id, userId])) !==
  undefined

export const listPlanned = async (db: Sql, org: Org, userId: string): Promise<string[]> =>
  (
    await db.rows<{ environmentId: string }>(
      'select environment_id from planned_grants where org_id = $1 and user_id = $2 order by environment_id',
      [org.id, userId],
    )
  ).map(({ environmentId }) => environmentId)
