import type { KeyGrant } from '@skerry/contract/grants/schemas'
import type { Static } from 'typebox'
import type { Sql, Tx } from '../../db/database.ts'
import type { OfEnvironment } from '../environments/table.ts'

// The table `key_grants`: the key of an environment, wrapped to one principal. Only write.ts changes its rows.

/** The row in the form of the API. */
export type GrantRow = Static<typeof KeyGrant>

export interface Holder {
  principalType: string
  principalId: string
}

/** The only rotator of an organization, as a holder. */
export const rotatorHolder = (orgId: string): Holder => ({ principalType: 'rotator', principalId: orgId })

export const grantColumns = 'id, environment_id, principal_type, principal_id, wrapped_dek, created_at, ends_at'

/** SQL of a query for the end of the same holder's grant on the parent, if `key_grants` is on a branch. */
const endOnParent = (grant: string) => `select held.ends_at from environments branch
   join key_grants held on held.org_id = branch.org_id and held.environment_id = branch.parent_environment_id
  where branch.org_id = ${grant}.org_id and branch.id = ${grant}.environment_id
    and held.principal_type = ${grant}.principal_type and held.principal_id = ${grant}.principal_id`

/**
 * SQL condition on `key_grants k`: the grant has not ended. The key of a branch ends with the key of the parent. Every
 * query that gives out a key, or lets a holder act, has this condition: a job deletes ended grants, but only later.
 */
export const grantInForce = (now: string, grant = 'k') =>
  `((${grant}.ends_at is null or ${grant}.ends_at > ${now})
    and not exists (${endOnParent(grant)} and held.ends_at <= ${now}))`

/** SQL of the instant at which `key_grants k` ends. Null if it stays. */
export const grantEnd = `least(k.ends_at, (${endOnParent('k')}))`

/** SQL condition on `key_grants k` and `environments e`: the grant is the principal's, on this environment, and in force. */
export const ownGrant = (type: string, id: string, now: string) =>
  `k.org_id = e.org_id and k.environment_id = e.id and k.principal_type = ${type} and k.principal_id = ${id}
   and ${grantInForce(now)}`

export const findGrant = (db: Sql, env: OfEnvironment, grantId: string, now: string) =>
  db.row<GrantRow>(
    `select ${grantColumns} from key_grants k
      where org_id = $1 and environment_id = $2 and id = $3 and ${grantInForce('$4')}`,
    [env.orgId, env.id, grantId, now],
  )

/**
 * Returns the key that is wrapped to this holder and the end of the grant, or undefined. The lock lasts until commit, and
 * a re-key waits for it. Lock the environment first, like a re-key does.
 */
export const lockGrant = (db: Tx, env: OfEnvironment, holder: Holder, now: string) =>
  db.row<{ wrappedDek: string; endsAt: string | null }>(
    `select k.wrapped_dek, ${grantEnd} as ends_at from key_grants k
      where k.org_id = $1 and k.environment_id = $2 and k.principal_type = $3 and k.principal_id = $4
        and ${grantInForce('$5')}
        for share of k`,
    [env.orgId, env.id, holder.principalType, holder.principalId, now],
  )

/** Waits for all running grants to a person in all organizations, and blocks new ones until commit. */
export const lockPerson = (db: Tx, userId: string) =>
  db.rows(`select 1 from principals where type = 'user' and id = $1 order by org_id for update`, [userId])
