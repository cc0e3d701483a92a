import type { Invite as InviteRow } from '@skerry/contract/members/schemas'
import type { Static } from 'typebox'
import type { Sql } from '../../db/database.ts'
import type { Checked } from '../../http/access.ts'
import { type Org, within } from '../orgs/scope.ts'

export type Invite = Checked<Static<typeof InviteRow>>

export const inviteColumns = 'id, email, role, invited_by_id, created_at, expires_at'

/** Finds only an invitation that has not expired. An expired one is in no list either. */
const findInvite = (db: Sql, org: Org, inviteId: string, now: string) =>
  db.row<Invite>(`select ${inviteColumns} from invitations where org_id = $1 and id = $2 and expires_at > $3`, [
    org.id,
    inviteId,
    now,
  ])

export const invite = within<'invite', 'inviteId', Invite>(
  'invite',
  'inviteId',
  'As inside; the invitation is one of the organization',
  findInvite,
)
