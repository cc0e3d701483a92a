import { Type } from 'typebox'
import { get, post } from '../endpoint.ts'
import { Instant, Nullable, Ok, Strict } from '../schema.ts'
import { EnteredFactor } from '../second-factor/schemas.ts'
import { LinkToken, StartedSession, WebAuthnChallenge } from '../sign-in/schemas.ts'

const ReturnTo = Type.String({ description: 'The path on this server at which the sign-in began' })

/** The second factors that can be entered next. Null before the mailbox is confirmed, and if the person has none. */
const Factors = Strict({
  totp: Type.Boolean({ description: 'True if the person has an authenticator app' }),
  passkeys: Type.Boolean({ description: 'True if the person has a passkey for signing in' }),
})

export const identityLinks = {
  get: get('/v1/sign-in/identity-link', {
    summary:
      'Get the sign-in that waits for a confirmation in this browser. A sign-in waits if somebody came from the external identity provider, and Skerry already has an account with the same e-mail address. If no sign-in waits, `link` is null',
    surface: 'none',
    responses: {
      200: Strict({
        link: Nullable(
          Strict({
            issuer: Type.String(),
            email: Type.String(),
            name: Nullable(Type.String({ description: 'The person’s name at the external identity provider' })),
            secondFactor: Nullable(Factors),
            expiresAt: Instant,
          }),
        ),
      }),
    },
  }),
  requestMail: post('/v1/sign-in/identity-link/mail', {
    summary:
      'Send a mail with a link to the address of the existing account. To confirm that the account is theirs, the person must open the link in this browser',
    surface: 'none',
    responses: { 200: Ok },
    refuses: ['unauthorized', 'forbidden', 'conflict'],
    unaudited: 'the call links nothing',
  }),
  confirm: post('/v1/sign-in/identity-link/confirm', {
    summary:
      'Confirm, with the token of the mailed link, that the person can read the mailbox. The token works once. If the existing account has no second factor, the server then links the sign-in to this account',
    surface: 'none',
    body: Strict({ token: LinkToken }),
    responses: {
      200: Strict({
        session: Nullable(StartedSession),
        secondFactor: Nullable(Factors),
        returnTo: ReturnTo,
      }),
    },
    refuses: ['unauthorized', 'forbidden', 'conflict'],
    audits: ['user.identity_linked', 'session.started'],
  }),
  passkeyOptions: post('/v1/sign-in/identity-link/passkey-options', {
    summary: 'Get a challenge, which the person signs with a passkey to enter the second factor',
    surface: 'none',
    responses: { 200: WebAuthnChallenge },
    refuses: ['unauthorized', 'forbidden', 'conflict'],
    unaudited: 'the call only makes a challenge',
  }),
  enterSecondFactor: post('/v1/sign-in/identity-link/second-factor', {
    summary:
      'Enter the second factor of the existing account: a code of the authenticator app, a recovery code or a passkey. The server then links the sign-in to the existing account',
    surface: 'none',
    body: EnteredFactor,
    responses: { 200: Strict({ session: StartedSession, returnTo: ReturnTo }) },
    refuses: ['unauthorized', 'forbidden', 'conflict'],
    audits: ['user.recovery_code_used', 'user.identity_linked', 'session.started'],
  }),
  decline: post('/v1/sign-in/identity-link/decline', {
    summary:
      'Create a separate account for the sign-in that waits, and sign in to it. The server does not link this sign-in to the existing account',
    surface: 'none',
    responses: { 200: Strict({ session: StartedSession, returnTo: ReturnTo }) },
    refuses: ['unauthorized', 'forbidden', 'conflict'],
    audits: ['user.created', 'session.started'],
  }),
}
