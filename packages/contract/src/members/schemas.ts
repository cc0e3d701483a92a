import { Type } from 'typebox'
import { limits } from '../limits.ts'
import { Id, Instant, Nullable, Role, Strict } from '../schema.ts'

export const Member = Strict({
  userId: Id('user'),
  email: Nullable(Type.String()),
  name: Nullable(Type.String()),
  role: Role,
  publicKeyJwk: Nullable(Type.String()),
})

const underCode = (prefix: 'ji1' | 'ja1', description: string) =>
  Type.String({
    maxLength: limits.joiningTextCharacters,
    pattern: `^${prefix}\\.[A-Za-z0-9_-]+\\.[A-Za-z0-9_-]+$`,
    description,
  })

/** Only somebody with the joining code can make these texts. Their format is in docs/directory-format.md. */
export const Joining = underCode(
  'ji1',
  'Proves to the invited person which signed directory is the right one. A client makes this text with the joining code: a code that the inviter’s client shows, and never sends to the server',
)
export const JoiningAnswer = underCode(
  'ja1',
  'Proves to the inviter which public key the invited person has. A client makes this text with the joining code that the inviter told the person',
)

export const Invite = Strict({
  id: Id('invitation'),
  email: Type.String(),
  role: Type.Union([Type.Literal('admin'), Type.Literal('member')]),
  invitedById: Type.String(),
  createdAt: Instant,
  expiresAt: Instant,
  sentAt: Instant,
  linkUsedAt: Nullable(
    Type.String({ description: 'When the link in the mail signed somebody in. null after it expired' }),
  ),
  acceptedAt: Nullable(Instant),
  teamIds: Type.Array(Id('team')),
  environmentIds: Type.Array(Id('environment')),
  joiningAnswer: Nullable(JoiningAnswer),
})
