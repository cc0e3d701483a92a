import type { Notice } from '../../events/notices.ts'
import type { InvitationFacts } from '../../events/types.ts'
import type { Descriptor } from '../descriptor.ts'
import { routes } from './routes.ts'
import { isPending } from './scope.ts'

const invitation = ({ inviteId, email, orgName, expiresAt, invitedBy, hasCode }: InvitationFacts): Notice => ({
  type: 'invitation',
  to: { address: email },
  facts: { inviteId, orgName, until: expiresAt, invitedBy: invitedBy ?? null, hasCode: hasCode === true },
})

/** Former members, under the name that the organization knew when they left. Older entries of a removal have no name. */
const formerMembers = `(
  select distinct on (e.resource_id) e.resource_id, coalesce(e.metadata ->> 'name', e.metadata ->> 'email')
    from audit_entries e
   where e.org_id = $1 and e.action = 'member.removed' and coalesce(e.metadata ->> 'name', e.metadata ->> 'email') is not null
     and not exists (select from memberships m where m.org_id = $1 and m.user_id = e.resource_id)
   order by e.resource_id, e.created_at desc)`

export const feature: Descriptor = {
  routes,
  archive: {
    sections: [
      { name: 'memberships', table: 'memberships', columns: 'user_id, role, created_at', order: 'user_id' },
      {
        name: 'invitations',
        table: 'invitations',
        columns:
          'id, email, role, invited_by_id, created_at, expires_at, sent_at, accepted_at, joining, joining_answer',
        order: 'id',
      },
      {
        name: 'invitationTeams',
        table: 'invitation_teams',
        columns: 'invitation_id, team_id',
        order: 'invitation_id, team_id',
      },
      {
        name: 'invitationEnvironments',
        table: 'invitation_environments',
        columns: 'invitation_id, environment_id',
        order: 'invitation_id, environment_id',
      },
    ],
    withheld: {},
  },
  auditNames: `select m.user_id, coalesce(u.name, u.email, u.id)
                 from memberships m join users u on u.id = m.user_id where m.org_id = $1
                union all ${formerMembers}`,
  notices: {
    'invite.created': ({ facts }) => invitation(facts),
    'invite.resent': ({ facts }) => invitation(facts),
  },
  usage: {
    // An invited person already takes a seat, so that everyone who accepts an invitation gets one.
    members: `select (select count(*) from memberships where org_id = $1)
                   + (select count(*) from invitations where org_id = $1 and ${isPending('$2')})`,
  },
}
