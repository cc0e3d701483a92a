import type { Notice } from '../../events/notices.ts'
import type { InvitationFacts } from '../../events/types.ts'
import type { Descriptor } from '../descriptor.ts'
import { routes } from './routes.ts'
import { isPending } from './scope.ts'

const invitation = ({ inviteId, email, orgName, expiresAt, invitedBy }: InvitationFacts): Notice => ({
  type: 'invitation',
  to: { address: email },
  facts: { inviteId, orgName, until: expiresAt, invitedBy: invitedBy ?? null },
})

export const feature: Descriptor = {
  routes,
  archive: {
    sections: [
      { name: 'memberships', table: 'memberships', columns: 'user_id, role, created_at', order: 'user_id' },
      {
        name: 'invitations',
        table: 'invitations',
        columns: 'id, email, role, invited_by_id, created_at, expires_at, sent_at, accepted_at',
        order: 'id',
      },
    ],
    withheld: {},
  },
  auditNames: `select m.user_id, coalesce(u.name, u.email, u.id)
                 from memberships m join users u on u.id = m.user_id where m.org_id = $1`,
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
