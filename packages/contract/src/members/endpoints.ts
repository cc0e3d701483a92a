import { Type } from 'typebox'
import { trusted } from '../directory/schemas.ts'
import { del, get, patch, post } from '../endpoint.ts'
import { limits } from '../limits.ts'
import { Email, Id, NextCursor, Ok, Page, Role, Strict } from '../schema.ts'
import { Invite, Joining, Member } from './schemas.ts'

export const members = {
  update: patch('/v1/orgs/:orgId/members/:userId', {
    summary:
      'Change a member’s role. Only an owner can give or take away the role owner. Nobody can take this role away from the last owner. In an organization without an owner, the first member who is made an admin becomes its owner',
    body: Strict({ ...trusted, role: Role }),
    responses: { 200: Strict({ member: Member }) },
    refuses: ['conflict'],
    audits: ['member.role_changed'],
  }),
  remove: del('/v1/orgs/:orgId/members/:userId', {
    summary:
      'Remove a member, and delete their key grants. The person may have stored keys, so also re-key the environments that they could read. Admins can remove other members, and every member can remove themselves. Only an owner can remove another owner. Nobody can remove the last owner',
    body: Strict({ ...trusted }),
    responses: { 200: Ok },
    refuses: ['conflict'],
    audits: ['member.removed', 'kms_grant.revoked', 'recovery.custodian_removed'],
  }),
}

export const invites = {
  list: get('/v1/orgs/:orgId/invites', {
    summary:
      'List pending invitations: nobody has accepted them yet, and they have not expired. With `status=all`, the list also has accepted invitations',
    query: Strict({
      ...Page.properties,
      status: Type.Optional(
        Type.Union([Type.Literal('pending'), Type.Literal('accepted'), Type.Literal('all')], {
          description:
            '`pending` (the default), `accepted`, or `all` for both. An invitation that expired before anybody accepted it is never listed',
        }),
      ),
    }),
    responses: { 200: Strict({ invites: Type.Array(Invite), nextCursor: NextCursor }) },
  }),
  create: post('/v1/orgs/:orgId/invites', {
    summary:
      'Invite a person by e-mail. The person accepts with the link in the mail, or with `ownInvites.accept` after a sign-in that verified this address',
    body: Strict({
      email: Email,
      role: Type.Optional(
        Type.Union([Type.Literal('member'), Type.Literal('admin')], {
          description: 'Role that the person gets. Default: member',
        }),
      ),
      teamIds: Type.Optional(
        Type.Array(Id('team'), {
          maxItems: limits.inviteTeamsMax,
          uniqueItems: true,
          description: 'Teams that the person joins when they accept',
        }),
      ),
      environmentIds: Type.Optional(
        Type.Array(Id('environment'), {
          maxItems: limits.plannedGrantsMax,
          uniqueItems: true,
          description:
            'Environments whose keys the person should get. After the person has joined, `grants.missing` shows admins that these keys are missing',
        }),
      ),
      joining: Type.Optional(Joining),
    }),
    responses: { 201: Strict({ invite: Invite }) },
    refuses: ['conflict', 'quota_exceeded'],
    audits: ['invite.created'],
  }),
  resend: post('/v1/orgs/:orgId/invites/:inviteId/resend', {
    summary:
      'Mail a pending invitation again. The invitation is then valid for seven days from now. The link in the earlier mail stops working',
    body: Strict({ joining: Type.Optional(Joining) }),
    responses: { 200: Strict({ invite: Invite }) },
    audits: ['invite.resent'],
  }),
  delete: del('/v1/orgs/:orgId/invites/:inviteId', {
    summary: 'Revoke a pending invitation',
    responses: { 200: Ok },
    audits: ['invite.revoked'],
  }),
}
