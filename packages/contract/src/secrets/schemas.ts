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

export const KeepFor = Type.String({
  pattern: '^(?:[1-9]|[12][0-9]|30)d$',
  description: 'how long the deleted secret can be restored, 1d to 30d; without it, it is deleted for good',
})

/**
 * A secret that was deleted and is still kept. After a re-key it is not `restorable`, because nobody has the key that its
 * versions were encrypted with.
 */
export const DeletedSecret = Strict({
  id: Id('secret'),
  environmentId: Id('environment'),
  name: SecretName,
  version: Version,
  restorable: Type.Boolean(),
  deletedByType: Type.String(),
  deletedById: Type.String(),
  deletedAt: Instant,
  keptUntil: Instant,
})
