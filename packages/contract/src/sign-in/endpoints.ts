import { Type } from 'typebox'
import { get, post } from '../endpoint.ts'
import { DisplayName, Email, Nullable, Ok, Slug, Strict } from '../schema.ts'
import {
  ChallengeId,
  LinkedInvitation,
  LinkToken,
  ReturnTo,
  SignedIn,
  WebAuthnChallenge,
  WebAuthnResponse,
} from './schemas.ts'

const OwnName = Type.Unsafe<string>({
  ...DisplayName,
  description: 'The person’s name. If the person already has a name, the server does not change it',
})

export const signIn = {
  get: get('/v1/sign-in', {
    summary: 'Show how people sign in on this server, and whether anybody has an account yet',
    surface: 'none',
    responses: {
      200: Strict({
        kind: Type.Union([Type.Literal('built_in'), Type.Literal('external')]),
        available: Type.Boolean({
          description: 'False if this server has no server key, and therefore cannot sign people in',
        }),
        setUpNeeded: Type.Boolean({
          description: 'True if this server uses the built-in sign-in, and nobody has an account yet',
        }),
        signup: Type.Union([Type.Literal('open'), Type.Literal('closed')], {
          description:
            '`open`: anyone may create an organization. `closed`: only people with an account, or with the set-up link, may create one',
        }),
        mail: Type.Union([Type.Literal('smtp'), Type.Literal('outbox')], {
          description:
            'Where mails go. With `outbox`, the server sends none: it writes them to the folder `outbox` of its data directory',
        }),
      }),
    },
  }),
  setUp: post('/v1/sign-in/set-up', {
    summary:
      'Create the first person, and an organization whose owner this person is. The call needs the set-up link from the log of the server',
    surface: 'none',
    body: Strict({ token: LinkToken, email: Email, name: DisplayName, orgName: DisplayName, orgSlug: Slug }),
    responses: { 201: SignedIn },
    refuses: ['unauthorized', 'conflict'],
    audits: ['user.created', 'org.created', 'session.started'],
  }),
  requestLink: post('/v1/sign-in/links', {
    summary:
      'Mail a sign-in link to an address that belongs to a person or an open invitation. For any other address, the server sends no mail, but the answer is the same',
    surface: 'none',
    body: Strict({ email: Email, returnTo: Type.Optional(ReturnTo) }),
    responses: { 200: Ok },
    refuses: ['conflict'],
    unaudited: 'the server does not know the caller yet',
  }),
  showInvitation: post('/v1/sign-in/links/invitation', {
    summary:
      'Show the invitation to which a mailed link belongs. The call does not accept the invitation, and signs nobody in',
    surface: 'none',
    body: Strict({ token: LinkToken }),
    responses: { 200: Strict({ invitation: LinkedInvitation }) },
    refuses: ['unauthorized', 'conflict'],
    unaudited: 'this call changes nothing. It is a POST, so that no log records the token in a URL',
  }),
  redeemLink: post('/v1/sign-in/links/redeem', {
    summary:
      'Sign in with a mailed link, which works once. If the link belongs to an invitation, the call also accepts the invitation, unless the person has a second factor. The answer sets the refresh cookie',
    surface: 'none',
    body: Strict({ token: LinkToken, name: Type.Optional(OwnName) }),
    responses: {
      200: Strict({
        ...SignedIn.properties,
        returnTo: Nullable(Type.String({ description: 'The path that `returnTo` had in the request for the link' })),
      }),
    },
    refuses: ['unauthorized', 'conflict'],
    audits: ['user.created', 'user.identity_linked', 'member.joined', 'session.started'],
  }),
  passkeyOptions: post('/v1/sign-in/passkeys/options', {
    summary: 'Get a challenge, which a person signs with a passkey to sign in (`signIn.passkey`)',
    surface: 'none',
    responses: { 200: WebAuthnChallenge },
    refuses: ['conflict'],
    unaudited: 'the server does not know the caller yet',
  }),
  passkey: post('/v1/sign-in/passkeys', {
    summary: 'Sign in with a passkey, which also counts as the second factor. The answer sets the refresh cookie',
    surface: 'none',
    body: Strict({ challengeId: ChallengeId, response: WebAuthnResponse }),
    responses: { 200: SignedIn },
    refuses: ['unauthorized', 'conflict'],
    audits: ['session.started'],
  }),
  refresh: post('/v1/sign-in/refresh', {
    summary:
      'Get a new session JWT, the credential for other calls, in exchange for the refresh cookie that the sign-in set. The answer sets a new cookie. If the old cookie comes again more than ten seconds later, the server ends the session, because the cookie may be stolen',
    surface: 'none',
    responses: { 200: SignedIn },
    refuses: ['unauthorized', 'forbidden', 'conflict'],
    audits: ['session.ended'],
  }),
  signOut: post('/v1/sign-in/sign-out', {
    summary: 'End the session to which the refresh cookie belongs, and delete the cookie in the browser',
    surface: 'none',
    responses: { 200: Ok },
    refuses: ['forbidden'],
    audits: ['session.ended'],
  }),
}
