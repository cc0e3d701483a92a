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
      'Get the sign-in at the external issuer that waits for a confirmation in this browser. If none waits, `link` is null',
    surface: 'none',
    responses: {
      200: Strict({
        link: Nullable(
          Strict({
            issuer: Type.String(),
            email: Type.String(),
            name: Nullable(Type.String({ description: 'The person’s name at the external issuer' })),
            secondFactor: Nullable(Factors),
            expiresAt: Instant,
          }),
        ),
      }),
    },
  }),
  requestMail: post('/v1/sign-in/identity-link/mail', {
    summary:
      'Mail a link to the address of the existing person. To confirm the sign-in, the person must open the link in this browser',
    surface: 'none',
    responses: { 200: Ok },
    refuses: ['unauthorized', 'forbidden', 'conflict'],
    unaudited: 'the call links nothing',
  }),
  confirm: post('/v1/sign-in/identity-link/confirm', {
    summary:
      'Confirm the mailbox with the token of the mailed link, which works once. If the person needs no second factor, the server then links the sign-in to the existing account',
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
    summary: 'Get a challenge for entering the second factor with a passkey',
    surface: 'none',
    responses: { 200: WebAuthnChallenge },
    refuses: ['unauthorized', 'forbidden', 'conflict'],
    unaudited: 'the call only makes a challenge',
  }),
  enterSecondFactor: post('/v1/sign-in/identity-link/second-factor', {
    summary:
      'Enter the second factor of the existing person: a code, a recovery code or a passkey. The server then links the sign-in to the existing account',
    surface: 'none',
    body: EnteredFactor,
    responses: { 200: Strict({ session: StartedSession, returnTo: ReturnTo }) },
    refuses: ['unauthorized', 'forbidden', 'conflict'],
    audits: ['user.recovery_code_used', 'user.identity_linked', 'session.started'],
  }),
  decline: post('/v1/sign-in/identity-link/decline', {
    summary: 'Continue with a separate account. The server does not link the sign-in to the existing account',
    surface: 'none',
    responses: { 200: Strict({ session: StartedSession, returnTo: ReturnTo }) },
    refuses: ['unauthorized', 'forbidden', 'conflict'],
    audits: ['user.created', 'session.started'],
  }),
}
