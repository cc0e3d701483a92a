import type { OwnInvite } from '@skerry/contract/members/own-invites'
import type { Static } from 'typebox'
import type { Sql, Tx } from '../../db/database.ts'
import type { KeysetCursor } from '../../http/page.ts'
import { shownInviteColumns, shownInviteJoins } from './scope.ts'

export const listOwnInvites = (db: Sql, userId: string, now: string, cursor: KeysetCursor) =>
  db.rows<Static<typeof OwnInvite>>(
    `select ${shownInviteColumns}, i.joining
       from users u
       join invitations i on i.email = u.verified_email
       ${shownInviteJoins}
      where u.id = $1 and i.accepted_at is null and i.expires_at > $2 and ($3::timestamptz is null or (i.created_at, i.id) > ($3, $4))
      order by i.created_at, i.id limit $5`,
    [userId, now, cursor.at, cursor.id, cursor.take],
  )

interface TakenInvite {
  orgId: string
  id: string
  role: 'admin' | 'member'
}

const ofPerson =
  'u.id = $1 and i.email = u.verified_email and i.id = $2 and i.accepted_at is null and i.expires_at > $3'

/** Accepts the invitation and returns it. If it is accepted twice at once, the second request finds none. */
export const takeOwnInvite = (
  db: Tx,
  { userId, inviteId, joiningAnswer }: { userId: string; inviteId: string; joiningAnswer: string | undefined },
  now: string,
) =>
  db.row<TakenInvite>(
    `update invitations i set accepted_at = $3, joining_answer = $4
       from users u where ${ofPerson} returning i.org_id, i.id, i.role`,
    [userId, inviteId, now, joiningAnswer ?? null],
  )

export const deleteOwnInvite = (db: Tx, userId: string, inviteId: string, now: string) =>
  db.row<TakenInvite>(`delete from invitations i using users u where ${ofPerson} returning i.org_id, i.id, i.role`, [
    userId,
    inviteId,
    now,
  ])
