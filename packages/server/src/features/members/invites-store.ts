import type { Invite } from '@skerry/contract/members/schemas'
import type { Static } from 'typebox'
import type { Sql, Tx } from '../../db/database.ts'
import type { KeysetCursor } from '../../http/page.ts'
import { actingFor } from '../../model/people/made.ts'
import type { Org } from '../orgs/scope.ts'
import { inviteColumns, isPending, type Invite as ScopedInvite } from './scope.ts'

type InviteRow = Static<typeof Invite>

const withStatus = {
  pending: isPending('$2'),
  accepted: 'accepted_at <= $2',
  all: '(accepted_at <= $2 or expires_at > $2)',
}

export const listInvites = (db: Sql, org: Org, status: keyof typeof withStatus, now: string, cursor: KeysetCursor) =>
  db.rows<InviteRow>(
    `select ${inviteColumns} from invitations
      where org_id = $1 and ${withStatus[status]} and ($3::timestamptz is null or (created_at, id) > ($3, $4))
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

/** Replaces an invitation of the same address that is over. Returns undefined if the address has a pending one. */
export const insertInvite = (
  db: Tx,
  org: Org,
  invite: {
    id: string
    email: string
    role: string
    invitedById: string
    now: string
    expiresAt: string
    joining: string | undefined
  },
) =>
  db.row<InviteRow>(
    `insert into invitations (org_id, id, email, role, invited_by_id, created_at, expires_at, sent_at, joining)
     values ($1, $2, $3, $4, $5, $6, $7, $6, $8)
     on conflict (org_id, email) do update
       set id = $2, role = $4, invited_by_id = $5, created_at = $6, expires_at = $7, sent_at = $6, accepted_at = null,
           joining = $8, joining_answer = null
       where invitations.accepted_at is not null or invitations.expires_at <= $6
     returning ${inviteColumns}`,
    [
      org.id,
      invite.id,
      invite.email,
      invite.role,
      invite.invitedById,
      invite.now,
      invite.expiresAt,
      invite.joining ?? null,
    ],
  )

/** Returns undefined if it was accepted or revoked meanwhile. Without a new text for the joining code, the earlier one stays. */
export const renewInvite = (
  db: Tx,
  org: Org,
  invite: ScopedInvite,
  { now, expiresAt, joining }: { now: string; expiresAt: string; joining: string | undefined },
) =>
  db.row<InviteRow>(
    `update invitations set sent_at = $3, expires_at = $4, joining = coalesce($5, joining)
      where org_id = $1 and id = $2 and ${isPending('$3')}
     returning ${inviteColumns}`,
    [org.id, invite.id, now, expiresAt, joining ?? null],
  )

export const hasJoiningCode = async (db: Sql, org: Org, inviteId: string): Promise<boolean> =>
  (await db.row('select from invitations where org_id = $1 and id = $2 and joining is not null', [
    org.id,
    inviteId,
  ])) !== undefined

/** Returns false if it was accepted or revoked meanwhile. */
export const deleteInvite = async (db: Tx, org: Org, invite: ScopedInvite): Promise<boolean> =>
  (await db.row('delete from invitations where org_id = $1 and id = $2 and accepted_at is null returning id', [
    org.id,
    invite.id,
  ])) !== undefined

/**
 * Pending invitations that the person or a credential of theirs sent, or that wait for an address of the person. An id
 * names its kind by its prefix.
 */
const ofPerson = `i.org_id = $1 and i.accepted_at is null and i.expires_at > $3
  and (i.invited_by_id in (select by.id from (${actingFor('$1', '$2')}) by) or exists (select from users u where u.id = $2 and i.email in (u.email, u.verified_email)))`

export const findInvitesConcerning = (db: Sql, org: Org, userId: string, now: string) =>
  db.rows<{ id: string; email: string }>(`select i.id, i.email from invitations i where ${ofPerson} order by i.id`, [
    org.id,
    userId,
    now,
  ])

export const deleteInvitesConcerning = (db: Tx, org: Org, userId: string, now: string) =>
  db.rows<{ id: string; email: string; role: string }>(
    `delete from invitations i where ${ofPerson} returning i.id, i.email, i.role`,
    [org.id, userId, now],
  )
