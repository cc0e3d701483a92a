import type { OwnInvite } from '@skerry/contract/members/own-invites'
import type { Static } from 'typebox'
import type { Sql, Tx } from '../../db/database.ts'
import type { KeysetCursor } from '../../http/page.ts'

export const listOwnInvites = (db: Sql, userId: string, now: string, cursor: KeysetCursor) =>
  db.rows<Static<typeof OwnInvite>>(
    `select i.id, o.name as org_name, o.slug as org_slug, i.role, by.email as invited_by, i.created_at, i.expires_at
       from users u
       join invitations i on i.email = u.verified_email
       join organizations o on o.id = i.org_id
       left join users by on by.id = i.invited_by_id
      where u.id = $1 and i.expires_at > $2 and ($3::timestamptz is null or (i.created_at, i.id) > ($3, $4))
      order by i.created_at, i.id limit $5`,
    [userId, now, cursor.at, cursor.id, cursor.take],
  )

/** Deletes the invitation and returns it. If it is taken twice at once, the second request finds it gone. */
export const takeOwnInvite = (db: Tx, userId: string, inviteId: string, now: string) =>
  db.row<{ orgId: string; id: string; role: 'admin' | 'member' }>(
    `delete from invitations i using users u
      where u.id = $1 and i.email = u.verified_email and i.id = $2 and i.expires_at > $3
     returning i.org_id, i.id, i.role`,
    [userId, inviteId, now],
  )
