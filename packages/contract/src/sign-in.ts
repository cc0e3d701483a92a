import { Type } from 'typebox'
import { del, get, post } from './endpoint.ts'
import { limits } from './limits.ts'
import { DisplayName, Email, Id, Instant, Nullable, Ok, Slug, Strict } from './schema.ts'

export const StartedSession = Strict({
  id: Id('session'),
  token: Type.String({ description: 'Session JWT; send it as Bearer' }),
  expiresAt: Instant,
  mfaAt: Nullable(Instant),
})

/** What a sign-in, a refresh and a re-entered second factor give: a bearer for `Authorization`, and until when it works. */
export const SignedIn = Strict({ session: StartedSession })

/** A secret that the server made and put into a link: 32 random bytes, base64url. */
export const LinkToken = Type.String({ pattern: '^[A-Za-z0-9_-]{43}$' })

/** Where in the dashboard a sign-in leads: a path of this server, never another site. */
export const ReturnTo = Type.String({
  maxLength: 500,
  pattern: '^/(?![/\\\\])[\\u0021-\\u005b\\u005d-\\u007e]*$',
  description: 'a path on this server, `/` unless given',
})

/** What a browser's WebAuthn call answers, as `@simplewebauthn/browser` encodes it. The server's verifier reads inside. */
export const WebAuthnResponse = Type.Object(
  {
    id: Type.String({ maxLength: limits.credentialIdCharacters, pattern: '^[A-Za-z0-9_-]+$' }),
    type: Type.Literal('public-key'),
    response: Type.Record(Type.String(), Type.Unknown()),
  },
  { additionalProperties: true },
)

/** Options for a browser's WebAuthn call, and the challenge to name in the answer. */
export const WebAuthnChallenge = Strict({
  challengeId: Id('challenge'),
  options: Type.Record(Type.String(), Type.Unknown()),
})

export const signIn = {
  get: get('/v1/sign-in', {
    summary: 'How people sign in here, and whether a first person is still to come',
    surface: 'none',
    responses: {
      200: Strict({
        kind: Type.Union([Type.Literal('built_in'), Type.Literal('external')]),
        available: Type.Boolean({
          description: 'false where this server lacks a server key, and so can sign nobody in',
        }),
        setUpNeeded: Type.Boolean({ description: 'nobody has signed in yet' }),
      }),
    },
  }),
  setUp: post('/v1/sign-in/set-up', {
    summary: 'Make the first person, owner of the first organization, with the link that the console shows',
    surface: 'none',
    body: Strict({ token: LinkToken, email: Email, name: DisplayName, orgName: DisplayName, orgSlug: Slug }),
    responses: { 201: SignedIn },
    refuses: ['unauthorized', 'conflict'],
    audits: ['user.created', 'org.created', 'session.started'],
  }),
  requestLink: post('/v1/sign-in/links', {
    summary: 'Mail a magic link; the answer is the same whether or not someone has that address',
    surface: 'none',
    body: Strict({ email: Email, returnTo: Type.Optional(ReturnTo) }),
    responses: { 200: Ok },
    refuses: ['conflict'],
    unaudited: 'nothing is known of the caller yet',
  }),
  redeemLink: post('/v1/sign-in/links/redeem', {
    summary: 'Sign in with a magic link, once, and take the invitation that it came with; sets the refresh cookie',
    surface: 'none',
    body: Strict({ token: LinkToken }),
    responses: {
      200: Strict({
        ...SignedIn.properties,
        returnTo: Nullable(Type.String({ description: 'what the link was asked for with' })),
      }),
    },
    refuses: ['unauthorized', 'conflict'],
    audits: ['user.created', 'user.identity_linked', 'member.joined', 'session.started'],
  }),
  passkeyOptions: post('/v1/sign-in/passkeys/options', {
    summary: 'A challenge for signing in with a passkey',
    surface: 'none',
    responses: { 200: WebAuthnChallenge },
    refuses: ['conflict'],
    unaudited: 'nothing is known of the caller yet',
  }),
  passkey: post('/v1/sign-in/passkeys', {
    summary: 'Sign in with a passkey; counts as second factor; sets the refresh cookie',
    surface: 'none',
    body: Strict({ challengeId: Id('challenge'), response: WebAuthnResponse }),
    responses: { 200: SignedIn },
    refuses: ['unauthorized', 'conflict'],
    audits: ['session.started'],
  }),
  refresh: post('/v1/sign-in/refresh', {
    summary: 'A new session JWT for the refresh cookie, which is spent and replaced; a spent one ends the session',
    surface: 'none',
    responses: { 200: SignedIn },
    refuses: ['unauthorized', 'forbidden', 'conflict'],
    audits: ['session.ended'],
  }),
  signOut: post('/v1/sign-in/sign-out', {
    summary: 'End the session of the refresh cookie',
    surface: 'none',
    responses: { 200: Ok },
    refuses: ['forbidden'],
    audits: ['session.ended'],
  }),
}

export const WebSession = Strict({
  id: Id('session'),
  createdAt: Instant,
  lastUsedAt: Instant,
  expiresAt: Instant,
  ipAddress: Nullable(Type.String()),
  userAgent: Nullable(Type.String()),
})

export const sessions = {
  list: get('/v1/me/sessions', {
    summary: 'The caller’s browser sessions that are in force, newest first',
    responses: {
      200: Strict({ sessions: Type.Array(WebSession), currentSessionId: Nullable(Id('session')) }),
    },
    refuses: ['forbidden'],
  }),
  end: del('/v1/me/sessions/:webSessionId', {
    summary: 'End a browser session; its JWT stops working on its next request',
    responses: { 200: Ok },
    refuses: ['forbidden', 'not_found'],
    audits: ['session.ended'],
  }),
}
