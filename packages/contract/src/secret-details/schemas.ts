import { Type } from 'typebox'
import { limits } from '../limits.ts'
import { Blob, Id, Instant, Nullable, SecretName, Strict } from '../schema.ts'

export const SealedDetails = Blob(limits.sealedDetailsCharacters, 'sd1')

export const Revision = Type.Integer({ minimum: 1, maximum: 2_147_483_647 })

/**
 * The notes of people about a name in an environment, whether or not there is a secret of that name. `sealed` holds the
 * description and the tags, encrypted by clients under the environment's key. The server reads the rest: it reminds the
 * owner before `expiresAt`, and `notNeeded` says that the name is missing here on purpose.
 */
export const SecretDetails = Strict({
  environmentId: Id('environment'),
  name: SecretName,
  sealed: Nullable(Type.String()),
  ownerId: Nullable(Id('user')),
  expiresAt: Nullable(Instant),
  notNeeded: Type.Boolean(),
  revision: Revision,
  updatedByType: Type.String(),
  updatedById: Type.String(),
  updatedAt: Instant,
})

/** The description and the tags of a secret that is renamed, encrypted anew under its new name. */
export const DetailsOfRename = Strict({ sealed: SealedDetails, expectedRevision: Revision })
