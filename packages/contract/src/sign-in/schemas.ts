import { Type } from 'typebox'
import { limits } from '../limits.ts'
import { ShownInvite } from '../members/own-invites.ts'
import { Id, Instant, Nullable, Strict } from '../schema.ts'

export const StartedSession = Strict({
  id: Id('session'),
  token: Type.String({ description: 'Session JWT. Send it as a bearer token' }),
  expiresAt: Instant,
  mfaAt: Nullable(Instant),
})

/** The answer to a sign-in, a refresh and a re-entered second factor: a bearer for `Authorization`, and its expiry. */
export const SignedIn = Strict({ session: StartedSession })

/** A secret that the server made and put into a link: 32 random bytes, base64url. */
export const LinkToken = Type.String({ pattern: '^[A-Za-z0-9_-]{43}$', description: 'The token in the link' })

/** An invitation as the holder of the link in its mail sees it, before anybody joins. */
export const LinkedInvitation = Strict({
  ...ShownInvite.properties,
  email: Type.String(),
  hasJoiningCode: Type.Boolean({
    description:
      'True if the inviter has a joining code for the invited person. Only a client to which the person gives this code can verify the organization',
  }),
  becomesOwner: Type.Boolean({
    description:
      'True if the person becomes the owner when they join: the invitation has the role admin, and the organization has no owner',
  }),
  usedAt: Nullable(Type.String({ description: 'When somebody used the link to sign in. null if nobody has used it' })),
  acceptedAt: Nullable(Instant),
  signsIn: Type.Boolean({
    description:
      'True if the link still works. For a person who has an account, it works only for 15 minutes after the mail',
  }),
})

/** The page that opens after a sign-in: a path of this server, never another site. */
export const ReturnTo = Type.String({
  maxLength: 500,
  pattern: '^/(?![/\\\\])[\\u0021-\\u005b\\u005d-\\u007e]*$',
  description: 'The page that opens after the sign-in: a path on this server. Default: `/`',
})

/**
 * The answer of a browser's WebAuthn call, as `@simplewebauthn/browser` encodes it. The server's verifier checks its
 * content.
 */
export const WebAuthnResponse = Type.Object(
  {
    id: Type.String({
      maxLength: limits.credentialIdCharacters,
      pattern: '^[A-Za-z0-9_-]+$',
      description: 'The WebAuthn credential id of the passkey, in base64url',
    }),
    type: Type.Literal('public-key', { description: 'The type of the WebAuthn credential' }),
    response: Type.Record(Type.String(), Type.Unknown(), {
      description: 'The `response` of the WebAuthn credential, with its bytes in base64url',
    }),
  },
  { additionalProperties: true, description: 'The answer of the browser’s WebAuthn call, as JSON' },
)

export const ChallengeId = Type.String({
  ...Id('challenge'),
  description: 'The `challengeId` that the server sent with the challenge',
})

/** Options for a browser's WebAuthn call, and the challenge id to send with the answer. */
export const WebAuthnChallenge = Strict({
  challengeId: Id('challenge'),
  options: Type.Record(Type.String(), Type.Unknown()),
})
