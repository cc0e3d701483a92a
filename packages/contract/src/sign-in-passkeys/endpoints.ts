import { Type } from 'typebox'
import { del, get, post } from '../endpoint.ts'
import { DisplayName, Ok, Strict } from '../schema.ts'
import { ChallengeId, WebAuthnChallenge, WebAuthnResponse } from '../sign-in/schemas.ts'
import { SignInPasskey } from './schemas.ts'

export const signInPasskeys = {
  list: get('/v1/me/sign-in-passkeys', {
    summary: 'List passkeys with which the caller can sign in',
    responses: { 200: Strict({ passkeys: Type.Array(SignInPasskey) }) },
    refuses: ['forbidden'],
  }),
  options: post('/v1/me/sign-in-passkeys/options', {
    summary: 'Get a challenge, with which the browser makes a new passkey for signing in (`signInPasskeys.create`)',
    responses: { 200: WebAuthnChallenge },
    refuses: ['forbidden', 'mfa_required', 'conflict'],
    unaudited: 'the call only makes a challenge',
  }),
  create: post('/v1/me/sign-in-passkeys', {
    summary: 'Register a passkey with which the caller can sign in',
    body: Strict({
      challengeId: ChallengeId,
      label: { ...DisplayName, description: 'A name for the passkey' },
      response: WebAuthnResponse,
    }),
    responses: { 201: Strict({ passkey: SignInPasskey }) },
    refuses: ['forbidden', 'mfa_required', 'conflict'],
    audits: ['user.sign_in_passkey_enrolled'],
  }),
  delete: del('/v1/me/sign-in-passkeys/:signInPasskeyId', {
    summary: 'Remove a passkey for signing in. Passkeys that unlock the keyring are in a separate list',
    responses: { 200: Ok },
    refuses: ['forbidden', 'mfa_required', 'not_found'],
    audits: ['user.sign_in_passkey_removed'],
  }),
}
