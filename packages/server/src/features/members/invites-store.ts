import type { Invite } from '@skerry/contract/members/schemas'
import type { Static } from 'typebox'
import type { Sql, Tx } from '../../db/database.ts'
import type { KeysetCursor } from '../../http/page.ts'
import type { Org } from '../orgs/scope.ts'
import { inviteColumns, type Invite as ScopedInvite } from './scope.ts'

export const listInvites = (db: Sql, org: Org, now: string, cursor: KeysetCursor) =>
  db.rows<Static<typeof Invite>>(
    `select ${inviteColumns} from invitations
      where org_id = $1 and expires_at > $2 and ($3::timestamptz is null or (created_at, id) > ($3, $4))
      order by created_at, id limit $5`,
    [org.id, now, cursor.at, cursor.id, cursor.take],
  )

export const isMember = async (db: Sql, org: Org, email: string): Promise<boolean> =>
  (await db.row(
    'select 1 from memberships m join users u on u.id = m.user_id where m.org_id = $1 and u.email = $2 limit 1',
    [org.id, email],
  )) !== undefined

export const hasMember = async (db: Sql, org: Org): Promise<boolean> =>
  (await db.row('select 1 from memberships where org_id = $1 limit 1', [org.id])) !== undefined

/** Replaces an expired invitation of the same address. Returns undefined if the address has a valid one. */
export const insertInvite = (
  db: Tx,
  org: Org,
  invite: { id: string; email: string; role: string; invitedById: string; now: string; expiresAt: string },
) =>
  db.row<Static<typeof Invite>>(
    `insert into invitations (org_id, id, email, role, invited_by_id, created_at, expires_at)
     values ($1, $2, $3, $4, $5, $6, $7)
     on conflict (org_id, email) do update
       set id = $2, role = $4, invited_by_id = $5, created_at = $6, expires_at = $7
       where invitations.expires_at <= $6
     returning ${inviteColumns}`,
    [org.id, invite.id, invite.email, invite.role, invite.invitedById, invite.now, invite.expiresAt],
  )

/** Returns false if it was accepted or revoked meanwhile. */
export const deleteInvite = async (db: Tx, org: Org, invite: ScopedInvite): Promise<boolean> =>
  (await db.row('delete from invitations where org_id = $1 and id = $2 returning id', [org.id, invite.id])) !==
  undefined
