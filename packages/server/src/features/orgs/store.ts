import type { Member } from '@skerry/contract/members/schemas'
import type { Organization } from '@skerry/contract/orgs/schemas'
import type { Static } from 'typebox'
import type { Sql } from '../../db/database.ts'
import type { KeysetCursor } from '../../http/page.ts'
import type { Principal } from '../../kernel/principal.ts'
import type { Org } from './scope.ts'

type OrganizationRow = Static<typeof Organization>

export function listOrgs(db: Sql, principal: Principal, cursor: KeysetCursor): Promise<OrganizationRow[]> {
  if (principal.type === 'user') return listOrgsOfUser(db, principal.id, cursor)
  const role = principal.type === 'm2m' ? 'admin' : principal.role
  return db.rows<OrganizationRow>(
    `select id, name, slug, $2::text as role, created_at, updated_at from organizations
      where id = $1 and ($3::timestamptz is null or (created_at, id) > ($3, $4)) limit $5`,
    [principal.orgId, role, cursor.at, cursor.id, cursor.take],
  )
}

const listOrgsOfUser = (db: Sql, userId: string, cursor: KeysetCursor) =>
  db.rows<OrganizationRow>(
    `select o.id, o.name, o.slug, m.role, o.created_at, o.updated_at
       from memberships m join organizations o on o.id = m.org_id
      where m.user_id = $1 and ($2::timestamptz is null or (o.created_at, o.id) > ($2, $3))
      order by o.created_at, o.id limit $4`,
    [userId, cursor.at, cursor.id, cursor.take],
  )

export const isMfaRequired = async (db: Sql, org: Org): Promise<boolean> =>
  (await db.row('select 1 from organizations where id = $1 and mfa_required', [org.id])) !== undefined

export const listMembers = (db: Sql, org: Org, cursor: KeysetCursor) =>
  db.rows<Static<typeof Member> & { createdAt: string }>(
    `select u.id as user_id, u.email, u.name, m.role, u.public_key_jwk, m.created_at
       from memberships m join users u on u.id = m.user_id
      where m.org_id = $1 and ($2::timestamptz is null or (m.created_at, m.user_id) > ($2, $3))
      order by m.created_at, m.user_id limit $4`,
    [org.id, cursor.at, cursor.id, cursor.take],
  )
