import type { Member } from '@skerry/contract/members/schemas'
import type { Static } from 'typebox'
import type { Sql, Tx } from '../../db/database.ts'
import type { Role } from '../../model/people/memberships.ts'
import type { Org } from '../orgs/scope.ts'

/** Lists the roles of the owners and of the named people. The rows are locked, so that none of them gets a key. */
export const listRoles = (db: Tx, org: Org, userIds: string[]) =>
  db.rows<{ userId: string; role: Role }>(
    `select user_id, role from memberships where org_id = $1 and (role = 'owner' or user_id = any($2::text[]))
      order by user_id for update`,
    [org.id, userIds],
  )

/** Must be called under the lock, because a caller that finds no owner makes the first one. */
export const hasOwner = async (db: Tx, org: Org): Promise<boolean> =>
  (await db.row(`select 1 from memberships where org_id = $1 and role = 'owner' limit 1`, [org.id])) !== undefined

export const getMember = async (db: Sql, org: Org, userId: string) => {
  const row = await db.row<Static<typeof Member>>(
    `select u.id as user_id, u.email, u.name, m.role, u.public_key_jwk
       from memberships m join users u on u.id = m.user_id where m.org_id = $1 and m.user_id = $2`,
    [org.id, userId],
  )
  if (!row) throw new Error('a locked member is one')
  return row
}

export const listGrantedEnvironments = async (db: Sql, org: Org, userId: string) =>
  (
    await db.rows<{ environmentId: string }>(
      `select environment_id from key_grants
        where org_id = $1 and principal_type = 'user' and principal_id = $2 order by environment_id`,
      [org.id, userId],
    )
  ).map((row) => row.environmentId)
