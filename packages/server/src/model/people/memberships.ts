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

/**
 * Returns those of the people who are members. None of them can leave before commit. With `no key update`, other
 * transactions with this lock wait, too.
 */
export async function lockMembers(
  db: Tx,
  org: OfOrganization,
  userIds: readonly string[],
  lock: 'key share' | 'no key update',
): Promise<Set<string>> {
  const rows = await db.rows<{ userId: string }>(
    `select user_id from memberships where org_id = $1 and user_id = any($2::text[]) order by user_id for ${lock}`,
    [org.id, userIds],
  )
  return new Set(rows.map(({ userId }) => userId))
}

/** Like `lockMembers`, for one person. Returns false if the person is not a member. */
export const lockMember = async (
  db: Tx,
  org: OfOrganization,
  userId: string,
  lock: 'key share' | 'no key update',
): Promise<boolean> => (await lockMembers(db, org, [userId], lock)).has(userId)

export const putRole = (db: Tx, org: OfOrganization, userId: string, role: Role) =>
  db.rows('update memberships set role = $3 where org_id = $1 and user_id = $2', [org.id, userId, role])

/** Deletes a membership. The person is then no longer a principal here, and the grants are deleted. */
export const deleteMembership = (db: Tx, org: OfOrganization, userId: string) =>
  db.rows('delete from memberships where org_id = $1 and user_id = $2', [org.id, userId])
