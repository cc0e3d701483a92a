import type { Member } from '@skerry/contract/members/schemas'
import type { Static } from 'typebox'
import type { Tx } from '../../db/database.ts'

// All statements that change `memberships`. Triggers update `principals`.

export type Role = Static<typeof Member>['role']

interface OfOrganization {
  id: string
}

export const insertMembership = (db: Tx, orgId: string, userId: string, role: Role, now: string) =>
  db.rows('insert into memberships (org_id, user_id, role, created_at) values ($1, $2, $3, $4)', [
    orgId,
    userId,
    role,
    now,
  ])

/** Adds a member or raises the role -> the role afterwards. An invitation never lowers a role. */
export async function acceptMembership(
  db: Tx,
  org: OfOrganization,
  userId: string,
  role: Role,
  now: string,
): Promise<Role> {
  const row = await db.row<{ role: Role }>(
    `insert into memberships as m (org_id, user_id, role, created_at) values ($1, $2, $3, $4)
     on conflict (org_id, user_id) do update
       set role = case when m.role = 'member' or excluded.role = 'owner' then excluded.role else m.role end
     returning role`,
    [org.id, userId, role, now],
  )
  if (!row) throw new Error('an upsert returns its row')
  return row.role
}

export const putRole = (db: Tx, org: OfOrganization, userId: string, role: Role) =>
  db.rows('update memberships set role = $3 where org_id = $1 and user_id = $2', [org.id, userId, role])

/** Deletes a membership. The person is then no longer a principal here, and the grants are deleted. */
export const deleteMembership = (db: Tx, org: OfOrganization, userId: string) =>
  db.rows('delete from memberships where org_id = $1 and user_id = $2', [org.id, userId])
