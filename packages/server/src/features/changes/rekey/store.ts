import type { Sql, Tx } from '../../../db/database.ts'
import { isAble } from '../../../model/environments/keyed.ts'
import { grantInForce } from '../../../model/grants/table.ts'
import type { Env } from '../../envs/scope.ts'

export const lockSecrets = (db: Tx, env: Env) =>
  db.rows<{ id: string; name: string; currentVersion: number }>(
    `select id, name, current_version from secrets where org_id = $1 and environment_id = $2 order by id for update`,
    [env.orgId, env.id],
  )

/** The names with a description. It cannot change while the environment is locked. */
export const listDescribed = (db: Tx, env: Env) =>
  db.rows<{ name: string; revision: number }>(
    'select name, revision from secret_details where org_id = $1 and environment_id = $2 and sealed is not null',
    [env.orgId, env.id],
  )

export interface Holder {
  id: string
  principalType: string
  principalId: string
  wrappedDek: string
  /** True if the holder can use the grant. */
  able: boolean
  /** False for a temporary grant that has ended and is not yet deleted. */
  inForce: boolean
}

export const lockHolders = (db: Sql, env: Env, now: string) =>
  db.rows<Holder>(
    `select k.id, k.principal_type, k.principal_id, k.wrapped_dek,
            ${grantInForce('$3')} as in_force, ${isAble('$3')} as able
       from key_grants k where k.org_id = $1 and k.environment_id = $2 order by k.id for update`,
    [env.orgId, env.id, now],
  )

/** The branches of the environment, and the environment itself if it is one. */
export async function listBranchIds(db: Tx, env: Env): Promise<string[]> {
  const rows = await db.rows<{ id: string }>(
    `select id from environments
      where org_id = $1 and parent_environment_id is not null and (parent_environment_id = $2 or id = $2)`,
    [env.orgId, env.id],
  )
  return rows.map(({ id }) => id)
}
