import { Type } from 'typebox'
import { del, get, post } from './endpoint.ts'
import { limits } from './limits.ts'
import { Blob, DisplayName, Id, Instant, Ok, Strict } from './schema.ts'

export const CredentialId = Type.String({
  minLength: 1,
  maxLength: limits.credentialIdCharacters,
  pattern: '^[A-Za-z0-9_-]+$',
  description: 'base64url',
})
export const PrfInput = Type.String({
  pattern: '^[A-Za-z0-9_-]{16,128}$',
  description: 'base64url; what the passkey’s PRF is evaluated on',
})

export const Passkey = Strict({
  id: Id('passkey'),
  credentialId: CredentialId,
  label: Type.String(),
  prfInput: PrfInput,
  encryptedPrivateKey: Type.String(),
  createdAt: Instant,
})

/** Passkeys that unlock the keyring: each holds the private key sealed under its PRF. Signing in is another list. */
export const passkeys = {
  list: get('/v1/me/passkeys', {
    summary: 'Passkeys that unlock the caller’s keyring',
    responses: { 200: Strict({ passkeys: Type.Array(Passkey) }) },
    refuses: ['forbidden'],
  }),
  create: post('/v1/me/passkeys', {
    summary: 'Let a passkey unlock the keyring',
    body: Strict({
      credentialId: CredentialId,
      label: DisplayName,
      prfInput: PrfInput,
      encryptedPrivateKey: Blob(limits.sealedPrivateKeyCharacters, 'pk2'),
    }),
    responses: { 201: Strict({ passkey: Passkey }) },
    refuses: ['forbidden', 'conflict'],
    audits: ['user.passkey_enrolled'],
  }),
  delete: del('/v1/me/passkeys/:passkeyId', {
    summary: 'Stop a passkey from unlocking the keyring; private key and grants stay as they are',
    responses: { 200: Ok },
    refuses: ['forbidden', 'not_found'],
    audits: ['user.passkey_removed'],
  }),
}
