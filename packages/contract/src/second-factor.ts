import { Type } from 'typebox'
import { del, get, post } from './endpoint.ts'
import { limits } from './limits.ts'
import { DisplayName, Id, Instant, Nullable, Ok, Strict } from './schema.ts'
import { SignedIn, WebAuthnChallenge, WebAuthnResponse } from './sign-in.ts'

const TotpCode = Type.String({ pattern: '^\\d{6}$', description: 'six digits' })
/** Ten characters of base32 in two halves: `4XK7P-M2QRA`. */
export const RecoveryCode = Type.String({ pattern: '^[A-Z2-7]{5}-[A-Z2-7]{5}$' })
const RecoveryCodes = Strict({
  recoveryCodes: Type.Array(RecoveryCode, {
    description: `${limits.recoveryCodes} codes, each good once; shown this once`,
  }),
})

/** A second factor as a person enters it: exactly one of the three. */
export const EnteredFactor = Strict({
  code: Type.Optional(TotpCode),
  recoveryCode: Type.Optional(RecoveryCode),
  passkey: Type.Optional(Strict({ challengeId: Id('challenge'), response: WebAuthnResponse })),
})

export const SignInPasskey = Strict({
  id: Id('signInPasskey'),
  credentialId: Type.String(),
  label: Type.String(),
  createdAt: Instant,
  lastUsedAt: Nullable(Instant),
})

export const secondFactor = {
  get: get('/v1/me/second-factor', {
    summary: 'Which second factors the caller has, and when one was last entered in this session',
    responses: {
      200: Strict({
        enrolled: Type.Boolean(),
        managed: Type.Boolean({ description: 'false where an external issuer keeps second factors' }),
        totp: Type.Boolean(),
        recoveryCodesLeft: Type.Integer(),
        signInPasskeys: Type.Integer(),
        mfaAt: Nullable(Instant),
      }),
    },
    refuses: ['forbidden'],
  }),
  enrollTotp: post('/v1/me/second-factor/totp', {
    summary: 'Begin enrolling an authenticator app; nothing counts until a code has confirmed it',
    responses: {
      201: Strict({
        secret: Type.String({ description: 'base32' }),
        uri: Type.String({ description: 'otpauth://, for a QR code' }),
      }),
    },
    refuses: ['forbidden', 'mfa_required', 'conflict'],
    unaudited: 'nothing counts until a code has confirmed it',
  }),
  confirmTotp: post('/v1/me/second-factor/totp/confirm', {
    summary: 'Confirm an authenticator app with its first code; gives the recovery codes',
    body: Strict({ code: TotpCode }),
    responses: { 200: RecoveryCodes },
    refuses: ['forbidden', 'conflict'],
    audits: ['user.totp_enrolled'],
  }),
  removeTotp: del('/v1/me/second-factor/totp', {
    summary: 'Remove the authenticator app and the recovery codes',
    responses: { 200: Ok },
    refuses: ['forbidden', 'mfa_required', 'not_found'],
    audits: ['user.totp_removed'],
  }),
  renewRecoveryCodes: post('/v1/me/second-factor/recovery-codes', {
    summary: 'Replace the recovery codes',
    responses: { 200: RecoveryCodes },
    refuses: ['forbidden', 'mfa_required', 'conflict'],
    audits: ['user.recovery_codes_renewed'],
  }),
  stepUpOptions: post('/v1/me/second-factor/passkey-options', {
    summary: 'A challenge for re-entering the second factor with a passkey',
    responses: { 200: WebAuthnChallenge },
    refuses: ['forbidden', 'conflict'],
    unaudited: 'gives a challenge and changes nothing',
  }),
  stepUp: post('/v1/me/second-factor/enter', {
    summary: 'Re-enter a second factor: a code, a recovery code or a passkey. Stamps the session',
    body: EnteredFactor,
    responses: { 200: SignedIn },
    refuses: ['forbidden', 'conflict'],
    audits: ['session.second_factor_entered', 'user.recovery_code_used'],
  }),
}

export const signInPasskeys = {
  list: get('/v1/me/sign-in-passkeys', {
    summary: 'Passkeys that the caller can sign in with',
    responses: { 200: Strict({ passkeys: Type.Array(SignInPasskey) }) },
    refuses: ['forbidden'],
  }),
  options: post('/v1/me/sign-in-passkeys/options', {
    summary: 'A challenge for enrolling a passkey',
    responses: { 200: WebAuthnChallenge },
    refuses: ['forbidden', 'mfa_required', 'conflict'],
    unaudited: 'gives a challenge and changes nothing',
  }),
  create: post('/v1/me/sign-in-passkeys', {
    summary: 'Enroll a passkey for signing in',
    body: Strict({ challengeId: Id('challenge'), label: DisplayName, response: WebAuthnResponse }),
    responses: { 201: Strict({ passkey: SignInPasskey }) },
    refuses: ['forbidden', 'mfa_required', 'conflict'],
    audits: ['user.sign_in_passkey_enrolled'],
  }),
  delete: del('/v1/me/sign-in-passkeys/:signInPasskeyId', {
    summary: 'Stop a passkey from signing in; what it unlocks in the keyring is another list',
    responses: { 200: Ok },
    refuses: ['forbidden', 'mfa_required', 'not_found'],
    audits: ['user.sign_in_passkey_removed'],
  }),
}
