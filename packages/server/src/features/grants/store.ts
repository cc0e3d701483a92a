import type { Access, Reader, RecoveryReaders } from '@skerry/contract/grants/schemas'
import type { Static } from 'typebox'
import type { Sql } from '../../db/database.ts'
import type { KeysetCursor } from '../../http/page.ts'
import { environmentLabel, labelJoins } from '../../model/environments/label.ts'
import { notExpired } from '../../model/environments/table.ts'
import { type GrantRow, grantColumns, grantInForce } from '../../model/grants/table.ts'
import { tokenStands } from '../../model/tokens/table.ts'
import type { Env } from '../envs/scope.ts'
import type { Org } from '../orgs/scope.ts'

export const listGrants = (db: Sql, env: Env, now: string, cursor: KeysetCursor) =>
  db.rows<GrantRow>(
    `select ${grantColumns} from key_grants k
      where org_id = $1 and environment_id = $2 and ${grantInForce('$6')}
        and ($3::timestamptz is null or (created_at, id) > ($3, $4))
      order by created_at, id limit $5`,
    [env.orgId, env.id, cursor.at, cursor.id, cursor.take, now],
  )

export const holdsKeys = async (db: Sql, org: Org, userId: string): Promise<boolean> =>
  (await db.row(
    `select 1 from memberships m join users u on u.id = m.user_id
      where m.org_id = $1 and m.user_id = $2 and u.public_key_jwk is not null for key share of m`,
    [org.id, userId],
  )) !== undefined

/** Returns the token's environment, and the parent if that is a branch. Locks the token until commit. */
export const findUsableToken = (db: Sql, org: Org, tokenId: string, now: string) =>
  db.row<{ environmentId: string | null; parentEnvironmentId: string | null }>(
    `select t.environment_id, e.parent_environment_id
       from service_tokens t
       left join environments e on e.org_id = t.org_id and e.id = t.environment_id
      where t.org_id = $1 and t.id = $2 and ${tokenStands('$3')}
        for share of t`,
    [org.id, tokenId, now],
  )

type ReaderRow = Static<typeof Reader>

/** Lists readers, those who have had access longest first. */
export const listReaders = (db: Sql, env: Env, now: string) =>
  db.rows<ReaderRow>(
    `select k.id as grant_id, k.principal_type, k.principal_id, coalesce(u.name, u.email, t.name, c.name) as name,
            k.created_at as since, k.ends_at, k.granted_by_type, k.granted_by_id,
            (select coalesce(b.name, b.email) from users b where b.id = k.granted_by_id) as granted_by_name,
            t.id is null or t.revoked_at is null and (t.expires_at is null or t.expires_at > $3) as in_force
       from key_grants k
       left join users u on k.principal_type = 'user' and u.id = k.principal_id
       left join service_tokens t on k.principal_type = 'service_token' and t.org_id = k.org_id and t.id = k.principal_id
       left join sync_connections c
         on k.principal_type = 'sync_connection' and c.org_id = k.org_id and c.id = k.principal_id
      where k.org_id = $1 and k.environment_id = $2 and ${grantInForce('$3')}
      order by k.created_at, k.id`,
    [env.orgId, env.id, now],
  )

type AccessRow = Static<typeof Access> & { grantId: string }

/** Lists the grants of the organization with the names of their holders, the oldest first. */
export const listAccess = (
  db: Sql,
  org: Org,
  { withBranches, now }: { withBranches: boolean; now: string },
  cursor: KeysetCursor,
) =>
  db.rows<AccessRow>(
    `select k.id as grant_id, k.environment_id, ${environmentLabel} as label, k.principal_type, k.principal_id,
            coalesce(u.name, u.email, t.name, c.name) as name, k.created_at as since, k.ends_at,
            t.id is null or ${tokenStands('$2')} as in_force
       from key_grants k
       join environments e on e.org_id = k.org_id and e.id = k.environment_id
       ${labelJoins}
       left join users u on k.principal_type = 'user' and u.id = k.principal_id
       left join service_tokens t on k.principal_type = 'service_token' and t.org_id = k.org_id and t.id = k.principal_id
       left join sync_connections c
         on k.principal_type = 'sync_connection' and c.org_id = k.org_id and c.id = k.principal_id
      where k.org_id = $1 and ($3 or e.parent_environment_id is null) and ${notExpired('$2')}
        and ${grantInForce('$2')}
        and ($4::timestamptz is null or (k.created_at, k.id) > ($4, $5))
      order by k.created_at, k.id limit $6`,
    [org.id, now, withBranches, cursor.at, cursor.id, cursor.take],
  )

/** Returns undefined if no recovery key covers the environment. */
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
