import { Type } from 'typebox'
import { limits } from '../limits.ts'
import { Blob, Id, Instant, Nullable, Strict, WrappedKey } from '../schema.ts'

/** The revision, the name and the value of an override, encrypted by the person's client. */
const SealedOverride = Blob(limits.ciphertextBytes, 'so1')

export const OverrideRevision = Type.Integer({ minimum: 1, maximum: 2_147_483_647 })

/**
 * A key that only the person can unwrap, and the override encrypted with it. The server refuses a key that was wrapped with
 * another key pair than the person has now.
 */
export const NewOverride = {
  wrappedKey: Type.String({
    ...WrappedKey,
    description: 'The key of the override, encrypted with the caller’s public key',
  }),
  ciphertext: SealedOverride,
}

/** A value of a secret that one person stored for themselves. `ciphertext` holds the name too, so the server knows none. */
export const Override = Strict({
  id: Id('override'),
  environmentId: Id('environment'),
  wrappedKey: Type.String(),
  ciphertext: Type.String(),
  revision: OverrideRevision,
  createdAt: Instant,
  updatedAt: Instant,
})

export const OverrideCount = Strict({
  userId: Id('user'),
  name: Nullable(Type.String({ description: 'Name or e-mail address of the person' })),
  count: Type.Integer(),
})
