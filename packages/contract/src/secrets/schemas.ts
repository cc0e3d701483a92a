import { Type } from 'typebox'
import { Id, Instant, SecretName, Strict, Version } from '../schema.ts'

export const Secret = Strict({
  id: Id('secret'),
  environmentId: Id('environment'),
  name: SecretName,
  ciphertext: Type.String(),
  version: Version,
  createdAt: Instant,
  updatedAt: Instant,
})
