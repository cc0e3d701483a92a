import { Type } from 'typebox'
import { del, get, post } from '../endpoint.ts'
import { limits } from '../limits.ts'
import { Instant, Nullable, Ok, Strict } from '../schema.ts'
import { SignedIn, WebAuthnChallenge } from '../sign-in/schemas.ts'
import { EnteredFactor, RecoveryCode, TotpCode } from './schemas.ts'

const RecoveryCodes = Strict({
  recoveryCodes: Type.Array(RecoveryCode, {
    description: `${limits.recoveryCodes} codes, each of which works once. The server shows them only in this answer`,
  }),
})

export const secondFactor = {
  get: get('/v1/me/second-factor', {
    summary:
      'Get which second factors the caller has. `mfaAt` is the time when the caller last entered one of them in this session',
    responses: {
      200: Strict({
        enrolled: Type.Boolean(),
        managed: Type.Boolean({ description: 'False if an external identity provider manages second factors' }),
        totp: Type.Boolean(),
        recoveryCodesLeft: Type.Integer(),
        signInPasskeys: Type.Integer(),
        mfaAt: Nullable(Instant),
      }),
    },
    refuses: ['forbidden'],
  }),
  enrollTotp: post('/v1/me/second-factor/totp', {
    summary:
      'Begin to set up an authenticator app. The app becomes a second factor when the caller confirms it with a code',
    responses: {
      201: Strict({
        secret: Type.String({ description: 'The secret of the authenticator app, in base32' }),
        uri: Type.String({ description: 'The secret as an `otpauth://` URI, for a QR code' }),
      }),
    },
    refuses: ['forbidden', 'mfa_required', 'conflict'],
    unaudited: 'the second factor is not in use before a code confirms it',
  }),
  confirmTotp: post('/v1/me/second-factor/totp/confirm', {
    summary: 'Confirm an authenticator app with its first code. The answer has the recovery codes',
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
    summary: 'Replace the recovery codes. The old codes stop working',
    responses: { 200: RecoveryCodes },
    refuses: ['forbidden', 'mfa_required', 'conflict'],
    audits: ['user.recovery_codes_renewed'],
  }),
  stepUpOptions: post('/v1/me/second-factor/passkey-options', {
    summary:
      'Get a challenge, which the caller signs with a passkey to enter the second factor again (`secondFactor.stepUp`)',
    responses: { 200: WebAuthnChallenge },
    refuses: ['forbidden', 'conflict'],
    unaudited: 'the call only makes a challenge',
  }),
  stepUp: post('/v1/me/second-factor/enter', {
    summary:
      'Enter a second factor again: a code, a recovery code or a passkey. The server stores the time with the session',
    body: EnteredFactor,
    responses: { 200: SignedIn },
    refuses: ['forbidden', 'conflict'],
    audits: ['session.second_factor_entered', 'user.recovery_code_used'],
  }),
}
