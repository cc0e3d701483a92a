import { Type } from 'typebox'
import { del, get, post } from '../endpoint.ts'
import { limits } from '../limits.ts'
import { Blob, DisplayName, Ok, Strict } from '../schema.ts'
import { CredentialId, Passkey, PrfInput } from './schemas.ts'

/**
 * Passkeys that unlock the keyring. Each stores the private key sealed under its PRF. Passkeys for signing in are a
 * separate list.
 */
export const passkeys = {
  list: get('/v1/me/passkeys', {
    summary: 'List the passkeys that unlock the caller’s keyring (the encrypted private key)',
    responses: { 200: Strict({ passkeys: Type.Array(Passkey) }) },
    refuses: ['forbidden'],
  }),
  create: post('/v1/me/passkeys', {
    summary:
      'Register a passkey that unlocks the caller’s keyring (the encrypted private key). This passkey is not for signing in',
    body: Strict({
      credentialId: CredentialId,
      label: { ...DisplayName, description: 'A name for the passkey' },
      prfInput: PrfInput,
      encryptedPrivateKey: Blob(limits.sealedPrivateKeyCharacters, 'pk2'),
    }),
    responses: { 201: Strict({ passkey: Passkey }) },
    refuses: ['forbidden', 'conflict'],
    audits: ['user.passkey_enrolled'],
  }),
  delete: del('/v1/me/passkeys/:passkeyId', {
    summary:
      'Remove a passkey, so that it no longer unlocks the caller’s keyring. The private key and the grants do not change',
    responses: { 200: Ok },
    refuses: ['forbidden', 'not_found'],
    audits: ['user.passkey_removed'],
  }),
}
