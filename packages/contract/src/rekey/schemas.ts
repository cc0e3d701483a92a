import { Type } from 'typebox'
import { BranchManifest, PrincipalId } from '../envs/schemas.ts'
import { limits } from '../limits.ts'
import { secretNamePattern } from '../patterns.ts'
import { Ciphertext, HolderType, Id, Nullable, ReaderType, SecretName, Strict, Version, WrappedKey } from '../schema.ts'
import { Revision, SealedDetails } from '../secret-details/schemas.ts'

const Holder = Strict({ principalType: HolderType, principalId: PrincipalId })

const ResealedSecret = Strict({ name: SecretName, ciphertext: Ciphertext })

export const RekeyGrant = Strict({ ...Holder.properties, wrappedDek: WrappedKey })

/** A description that was encrypted anew, or null to drop it. */
export const RekeyDetails = Strict({ name: SecretName, sealed: Nullable(SealedDetails), expectedRevision: Revision })

/** A new key for an environment: its wrapping for each holder, and the ciphertext of each secret under it. */
export const Rekey = Strict({
  expectedVersions: Type.Record(Type.String({ pattern: secretNamePattern }), Version, {
    additionalProperties: false,
    maxProperties: limits.rekeySecretsMax,
    description: 'The current version of every secret, by name; 409 when one has moved on, appeared or gone',
  }),
  grants: Type.Array(RekeyGrant, {
    minItems: 1,
    maxItems: limits.rekeyGrantsMax,
    description: 'The new key, wrapped to each holder who keeps access; a holder who is not named loses it',
  }),
  dropReaders: Type.Optional(
    Type.Array(Strict({ principalType: ReaderType, principalId: PrincipalId }), {
      maxItems: limits.rekeyGrantsMax,
      description:
        'Rotator and sync connections that lose the key on purpose: 409 unless each that holds it is here or in `grants`',
    }),
  ),
  secrets: Type.Array(ResealedSecret, { maxItems: limits.rekeySecretsMax }),
  details: Type.Optional(
    Type.Array(RekeyDetails, {
      maxItems: limits.rekeySecretsMax,
      description:
        'Every description, encrypted under the new key; 409 when one is missing or has changed. Without the list, all descriptions are dropped',
    }),
  ),
  recoveryWrappedDek: Type.Optional(WrappedKey),
  manifests: Type.Optional(
    Type.Array(Strict({ environmentId: Id('environment'), manifest: BranchManifest }), {
      maxItems: limits.rekeyManifestsMax,
      description:
        'New manifests of branches of this environment, or of itself if it is a branch. All others are dropped, because they are of the key before',
    }),
  ),
})

/**
 * A proposed re-key as a reviewer sees it. A caller without the key of the environment gets no ciphertext. Nobody gets the
 * new key that is wrapped to somebody else.
 */
export const ProposedRekey = Strict({
  stale: Type.Boolean({
    description: 'A secret, a description or a grant has changed since, so an approval only closes the change',
  }),
  grants: Type.Array(Holder, { description: 'Who gets the new key; every other holder loses access' }),
  covered: Type.Boolean({ description: 'The new key is also wrapped to the recovery key' }),
  wrappedDek: { ...Nullable(WrappedKey), description: 'The new key, wrapped to the caller' },
  secrets: Nullable(Type.Array(Strict({ ...ResealedSecret.properties, expectedVersion: Version }))),
  details: {
    ...Nullable(Type.Array(Strict({ name: SecretName, sealed: Nullable(SealedDetails) }))),
    description: 'null also if the re-key drops all descriptions',
  },
})
