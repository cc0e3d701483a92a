import type { Sql, Tx } from '../../db/database.ts'
import { grantInForce } from '../../model/grants/table.ts'
import { tokenStands } from '../../model/tokens/table.ts'
import type { Env } from '../envs/scope.ts'

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
  /** True for a member with keys, a valid token, and any reader of the server, which loses its grants with its key. */
  able: boolean
  /** False for a temporary grant that has ended and is not yet deleted. */
  inForce: boolean
}

export const lockHolders = (db: Sql, env: Env, now: string) =>
  db.rows<Holder>(
    `select k.id, k.principal_type, k.principal_id, k.wrapped_dek,
            ${grantInForce('$3')} as in_force,
            ${grantInForce('$3')} and case k.principal_type
              when 'user' then exists (
                select from memberships m join users u on u.id = m.user_id
                 where m.org_id = k.org_id and m.user_id = k.principal_id and u.public_key_jwk is not null)
              when 'service_token' then exists (
                select from service_tokens t
                 where t.org_id = k.org_id and t.id = k.principal_id and ${tokenStands('$3')})
              else true
            end as able
       from key_grants k where k.org_id = $1 and k.environment_id = $2 order by k.id for update`,
    [env.orgId, env.id, now],
  )
