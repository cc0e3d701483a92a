import type { Sql, Tx } from '../../db/database.ts'
import type { KeysetCursor } from '../../http/page.ts'
import { type DetailsRow, detailsColumns } from '../../model/secrets/details.ts'
import type { Env } from '../envs/scope.ts'

export const listDetails = (db: Sql, env: Env, cursor: KeysetCursor) =>
  db.rows<DetailsRow>(
    `select ${detailsColumns} from secret_details
      where org_id = $1 and environment_id = $2 and ($3::text is null or name > $3)
      order by name limit $4`,
    [env.orgId, env.id, cursor.id, cursor.take],
  )

export const findDetails = (db: Tx, env: Env, name: string) =>
  db.row<DetailsRow>(
    `select ${detailsColumns} from secret_details where org_id = $1 and environment_id = $2 and name = $3`,
    [env.orgId, env.id, name],
  )

export async function countDetails(db: Sql, env: Env): Promise<number> {
  const row = await db.row<{ noted: number }>(
    'select count(*) as noted from secret_details where org_id = $1 and environment_id = $2',
    [env.orgId, env.id],
  )
  return row?.noted ?? 0
}
