import { Type } from 'typebox'
import { get, post } from '../endpoint.ts'
import { Organization } from '../orgs/schemas.ts'
import { Id, Instant, NextCursor, Nullable, Ok, Page, Strict } from '../schema.ts'
import { Joining, JoiningAnswer } from './schemas.ts'

/** An invitation as the holder of its link sees it. */
export const ShownInvite = Strict({
  id: Id('invitation'),
  orgName: Type.String({
    description: 'The name that the organization chose. The organization may belong to a stranger',
  }),
  orgSlug: Type.String(),
  role: Type.Union([Type.Literal('admin'), Type.Literal('member')]),
  invitedBy: Nullable(
    Type.String({
      description: 'E-mail address of the person who invited. null if a service token or a machine client invited',
    }),
  ),
  invitedByName: Nullable(Type.String({ description: 'Name of the person who invited, as this person wrote it' })),
  createdAt: Instant,
  expiresAt: Instant,
})

/** An invitation as its recipient sees it. */
export const OwnInvite = Strict({ ...ShownInvite.properties, joining: Nullable(Joining) })

/**
 * Invitations to the address that the caller’s identity provider has verified. Signing in alone never adds anyone to an
 * organization.
 */
export const ownInvites = {
  list: get('/v1/me/invites', {
    summary: 'List the open invitations to the verified e-mail address of the caller',
    query: Page,
    responses: { 200: Strict({ invites: Type.Array(OwnInvite), nextCursor: NextCursor }) },
    refuses: ['forbidden'],
  }),
  accept: post('/v1/me/invites/:inviteId/accept', {
    summary:
      'Accept an invitation, and join the organization. If the organization has no owner, the first person who joins as an admin becomes its owner',
    body: Strict({ joiningAnswer: Type.Optional(JoiningAnswer) }),
    responses: { 200: Strict({ org: Organization }) },
    refuses: ['forbidden', 'not_found'],
    audits: ['member.joined'],
  }),
  decline: post('/v1/me/invites/:inviteId/decline', {
    summary: 'Decline an invitation, and delete it',
    responses: { 200: Ok },
    refuses: ['forbidden', 'not_found'],
    audits: ['invite.declined'],
  }),
}
