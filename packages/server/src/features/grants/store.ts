import type { KeyGrant, Reader, RecoveryReaders } from '@skerry/contract/grants'
import type { Static } from 'typebox'
import type { Sql, Tx } from '../../db/database.ts'
import type { KeysetCursor } from '../../http/page.ts'
import { type Env, grantColumns } from '../envs/scope.ts'
import type { Org } from '../orgs/scope.ts'
import type { Grant } from './scope.ts'

type Row = Static<typeof KeyGrant>

export const listGrants = (db: Sql, env: Env, cursor: KeysetCursor) =>
  db.rows<Row>(
    `select ${grantColumns} from key_grants
      where org_id = $1 and environment_id = $2 and ($3::timestamptz is null or (created_at, id) > ($3, $4))
      order by created_at, id limit $5`,
    [env.orgId, env.id, cursor.at, cursor.id, cursor.take],
  )

/** Keeps the environment from being deleted; false where it is gone. */
export const holdEnv = async (db: Tx, env: Env): Promise<boolean> =>
  (await db.row('select 1 from environments where org_id = $1 and id = $2 for key share', [env.orgId, env.id])) !==
  undefined

/**
 * False where the key that the caller was found to hold has been replaced or taken away since. Asked after `holdEnv`: a
 * re-key, which takes the environment's row first too, then waits until commit.
 */
export async function holdOwnGrant(db: Tx, env: Env, principal: { type: string; id: string }): Promise<boolean> {
  const own = await db.row(
    `select 1 from key_grants
      where org_id = $1 and environment_id = $2 and principal_type = $3 and principal_id = $4 and wrapped_dek = $5
        for share`,
    [env.orgId, env.id, principal.type, principal.id, env.wrappedDek],
  )
  return own !== undefined
}

export const deleteGrant = (db: Tx, env: Env, grant: Grant) =>
  db.rows('delete from key_grants where org_id = $1 and environment_id = $2 and id = $3', [env.orgId, env.id, grant.id])

export const holdsKeys = async (db: Sql, org: Org, userId: string): Promise<boolean> =>
  (await db.row(
    `select 1 from memberships m join users u on u.id = m.user_id
      where m.org_id = $1 and m.user_id = $2 and u.public_key_jwk is not null for key share of m`,
    [org.id, userId],
  )) !== undefined

/** With the parent of the environment it is bound to, if that is a branch. Held against revocation until commit. */
export const findUsableToken = (db: Sql, org: Org, tokenId: string, now: string) =>
  db.row<{ environmentId: string | null; parentEnvironmentId: string | null }>(
    `select t.environment_id, e.parent_environment_id
       from service_tokens t
       left join environments e on e.org_id = t.org_id and e.id = t.environment_id
      where t.org_id = $1 and t.id = $2 and t.revoked_at is null and t.deleted_at is null
        and (t.expires_at is null or t.expires_at > $3)
        for share of t`,
    [org.id, tokenId, now],
  )

type ReaderRow = Static<typeof Reader>

/** Oldest first: who has read for long stands above. */
export const listReaders = (db: Sql, env: Env, now: string) =>
  db.rows<ReaderRow>(
    `select k.id as grant_id, k.principal_type, k.principal_id, coalesce(u.name, u.email, t.name, c.name) as name,
            k.created_at as since, k.granted_by_type, k.granted_by_id,
            (select coalesce(b.name, b.email) from users b where b.id = k.granted_by_id) as granted_by_name,
            t.id is null or t.revoked_at is null and (t.expires_at is null or t.expires_at > $3) as in_force
       from key_grants k
       left join users u on k.principal_type = 'user' and u.id = k.principal_id
       left join service_tokens t on k.principal_type = 'service_token' and t.org_id = k.org_id and t.id = k.principal_id
       left join sync_connections c
         on k.principal_type = 'sync_connection' and c.org_id = k.org_id and c.id = k.principal_id
      where k.org_id = $1 and k.environment_id = $2
      order by k.created_at, k.id`,
    [env.orgId, env.id, now],
  )

/** Undefined where no recovery key covers the environment. */
export const findRecoveryOf = (db: Sql, env: Env) =>
  db.row<{ since: string; threshold: number; custodians: Static<typeof RecoveryReaders>['custodians'] }>(
    `select g.created_at as since, r.threshold,
            (select coalesce(jsonb_agg(jsonb_build_object('userId', c.user_id, 'name', coalesce(u.name, u.email))
                                       order by c.share_index), '[]')
               from recovery_custodians c join users u on u.id = c.user_id where c.org_id = r.org_id) as custodians
       from recovery_grants g join recoveries r on r.org_id = g.org_id
      where g.org_id = $1 and g.environment_id = $2`,
    [env.orgId, env.id],
  )
