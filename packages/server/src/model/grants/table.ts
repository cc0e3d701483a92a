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

/** SQL condition on `key_grants k` and `environments e`: the grant is the principal's, on this environment. */
export const ownGrant = (type: string, id: string) =>
  `k.org_id = e.org_id and k.environment_id = e.id and k.principal_type = ${type} and k.principal_id = ${id}`

export const findGrant = (db: Sql, env: OfEnvironment, grantId: string) =>
  db.row<GrantRow>(`select ${grantColumns} from key_grants where org_id = $1 and environment_id = $2 and id = $3`, [
    env.orgId,
    env.id,
    grantId,
  ])

/**
 * Returns the key that is wrapped to this holder and the end of the grant, or undefined. The lock lasts until commit, and a re-key waits for it.
 * Lock the environment first, like a re-key does.
 */
export const lockGrant = (db: Tx, env: OfEnvironment, holder: Holder) =>
  db.row<{ wrappedDek: string; endsAt: string | null }>(
    `select wrapped_dek, ends_at from key_grants
      where org_id = $1 and environment_id = $2 and principal_type = $3 and principal_id = $4 for share`,
    [env.orgId, env.id, holder.principalType, holder.principalId],
  )

/** Waits for all running grants to a person in all organizations, and blocks new ones until commit. */
export const lockPerson = (db: Tx, userId: string) =>
  db.rows(`select 1 from principals where type = 'user' and id = $1 order by org_id for update`, [userId])
