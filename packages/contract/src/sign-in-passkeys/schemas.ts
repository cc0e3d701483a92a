import { Type } from 'typebox'
import { Id, Instant, Nullable, Strict } from '../schema.ts'

export const SignInPasskey = Strict({
  id: Id('signInPasskey'),
  credentialId: Type.String(),
  label: Type.String(),
  createdAt: Instant,
  lastUsedAt: Nullable(Instant),
})
