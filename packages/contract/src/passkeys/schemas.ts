import { Type } from 'typebox'
import { limits } from '../limits.ts'
import { Id, Instant, Strict } from '../schema.ts'

export const CredentialId = Type.String({
  minLength: 1,
  maxLength: limits.credentialIdCharacters,
  pattern: '^[A-Za-z0-9_-]+$',
  description: 'The WebAuthn credential id of the passkey, in base64url',
})

export const PrfInput = Type.String({
  pattern: '^[A-Za-z0-9_-]{16,128}$',
  description:
    'Input of the passkey’s PRF extension, in base64url. For this input, the passkey always returns the same bytes. From these bytes, the client computes the key that encrypts the private key',
})

export const Passkey = Strict({
  id: Id('passkey'),
  credentialId: CredentialId,
  label: Type.String(),
  prfInput: PrfInput,
  encryptedPrivateKey: Type.String(),
  createdAt: Instant,
})
