import { Type } from 'typebox'
import { limits } from '../limits.ts'
import { Blob, Id, Instant, Nullable, SecretName, Strict, Version } from '../schema.ts'

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
  description:
    'For how long you can restore the deleted secret: from `1d` (one day) to `30d`. Without this value, the server deletes the secret permanently, and you cannot restore it',
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

/** The former names of a secret, encrypted by the client that renames it. */
export const SealedFormerNames = Blob(limits.formerNamesCharacters, 'sn1')

/**
 * An agent policy, sync binding or open change request that still uses the former name of a renamed secret. Agents and
 * bindings have an id and a name only for admins.
 */
export const NamedBy = Strict({
  type: Type.Union([Type.Literal('agent'), Type.Literal('sync_binding'), Type.Literal('change_request')]),
  id: Nullable(Type.String()),
  name: { ...Nullable(Type.String()), description: 'Name of the agent, or of the binding’s sync connection' },
})
