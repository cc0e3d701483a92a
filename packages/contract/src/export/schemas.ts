import { Type } from 'typebox'

export const HexDigest = Type.String({ pattern: '^[0-9a-f]{64}$', description: 'SHA-256, hex' })

export const SignatureValue = Type.String({
  pattern: '^[A-Za-z0-9_-]{86}$',
  description: 'Signature of the RFC 8785 bytes of `manifest`, in base64url',
})
