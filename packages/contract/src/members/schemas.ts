import { Type } from 'typebox'
import { Id, Instant, Nullable, Role, Strict } from '../schema.ts'

export const Member = Strict({
  userId: Id('user'),
  email: Nullable(Type.String()),
  name: Nullable(Type.String()),
  role: Role,
  publicKeyJwk: Nullable(Type.String()),
})

export const Invite = Strict({
  id: Id('invitation'),
  email: Type.String(),
  role: Type.Union([Type.Literal('admin'), Type.Literal('member')]),
  invitedById: Type.String(),
  createdAt: Instant,
  expiresAt: Instant,
  sentAt: Instant,
  linkUsedAt: Nullable(
    Type.String({ description: 'When the link in the mail signed somebody in; null after it expired' }),
  ),
  acceptedAt: Nullable(Instant),
  teamIds: Type.Array(Id('team')),
  environmentIds: Type.Array(Id('environment')),
})
