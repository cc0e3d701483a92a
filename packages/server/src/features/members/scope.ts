import type { Invite as InviteRow } from '@skerry/contract/members/schemas'
import type { Static } from 'typebox'
import type { Sql } from '../../db/database.ts'
import type { Checked } from '../../http/access.ts'
import { type Org, within } from '../orgs/scope.ts'

export type Invite = Checked<Static<typeof InviteRow>>

/** A column of `invitations`: the ids that the invited person gets with the acceptance. */
const givenIds = (table: string, column: string) => `(
    select coalesce(jsonb_agg(g.${column} order by g.${column}), '[]') from ${table} g
     where g.org_id = invitations.org_id and g.invitation_id = invitations.id)`

export const inviteColumns = `
  id, email, role, invited_by_id, created_at, expires_at, coalesce(sent_at, created_at) as sent_at, accepted_at, joining_answer,
  (select max(l.used_at) from magic_links l where l.invite_id = invitations.id) as link_used_at,
  ${givenIds('invitation_teams', 'team_id')} as team_ids,
  ${givenIds('invitation_environments', 'environment_id')} as environment_ids`

/** The columns of `invitations i` that the holder of its link sees, with the joins that they need. */
export const shownInviteColumns = `i.id, o.name as org_name, o.slug as org_slug, i.role, by.email as invited_by,
  by.name as invited_by_name, i.created_at, i.expires_at`
export const shownInviteJoins = `
  join organizations o on o.id = i.org_id
  left join users by on by.id = i.invited_by_id`

/** Whether an invitation waits for its person: it has not been accepted and has not expired. */
export const isPending = (now: `$${number}`) => `accepted_at is null and expires_at > ${now}`

/** Finds only a pending invitation. The others are over, and nobody can change them. */
const findInvite = (db: Sql, org: Org, inviteId: string, now: string) =>
  db.row<Invite>(`select ${inviteColumns} from invitations where org_id = $1 and id = $2 and ${isPending('$3')}`, [
    org.id,
    inviteId,
    now,
  ])

export const invite = within<'invite', 'inviteId', Invite>(
  'invite',
  'inviteId',
  'The invitation must belong to the organization',
  findInvite,
)
