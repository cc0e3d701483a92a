import { Type } from 'typebox'
import { get, post } from '../endpoint.ts'
import { DisplayName, Email, Id, Nullable, Ok, Slug, Strict } from '../schema.ts'
import { LinkedInvitation, LinkToken, ReturnTo, SignedIn, WebAuthnChallenge, WebAuthnResponse } from './schemas.ts'

const OwnName = Type.Unsafe<string>({
  ...DisplayName,
  description: 'The person’s name. Somebody who has a name already keeps it',
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
  showInvitation: post('/v1/sign-in/links/invitation', {
    summary: 'Show the invitation of a mailed link to the holder of the link; nobody joins or is signed in',
    surface: 'none',
    body: Strict({ token: LinkToken }),
    responses: { 200: Strict({ invitation: LinkedInvitation }) },
    refuses: ['unauthorized', 'conflict'],
    unaudited: 'it changes nothing; the token is in the body so that no log has it',
  }),
  redeemLink: post('/v1/sign-in/links/redeem', {
    summary: 'Sign in with a magic link, once, and take the invitation that it came with; sets the refresh cookie',
    surface: 'none',
    body: Strict({ token: LinkToken, name: Type.Optional(OwnName) }),
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
