import { Type } from 'typebox'
import { BranchManifest, PrincipalId, RecoveryWrappedDek, WrappedDek } from '../envs/schemas.ts'
import { limits } from '../limits.ts'
import { secretNamePattern } from '../patterns.ts'
import { Ciphertext, HolderType, Id, Nullable, ReaderType, SecretName, Strict, Version, WrappedKey } from '../schema.ts'
import { Revision, SealedDetails } from '../secret-details/schemas.ts'

const Holder = Strict({ principalType: HolderType, principalId: PrincipalId })

const ResealedSecret = Strict({ name: SecretName, ciphertext: Ciphertext })

export const RekeyGrant = Strict({ ...Holder.properties, wrappedDek: WrappedDek })

/** A description that was encrypted anew, or null to drop it. */
export const RekeyDetails = Strict({
  name: SecretName,
  sealed: Nullable(SealedDetails),
  expectedRevision: { ...Revision, description: 'The revision of these details that the caller read' },
})

/** A new key for an environment: its wrapping for each holder, and the ciphertext of each secret under it. */
export const Rekey = Strict({
  expectedVersions: Type.Record(Type.String({ pattern: secretNamePattern }), Version, {
    additionalProperties: false,
    maxProperties: limits.rekeySecretsMax,
    description:
      'The version of each secret when the caller read it, by the name of the secret. If a secret was changed, added or deleted since then, the answer is 409',
  }),
  grants: Type.Array(RekeyGrant, {
    minItems: 1,
    maxItems: limits.rekeyGrantsMax,
    description:
      'The new key, wrapped for each person, token and reader of the server that should still have access. All others lose access',
  }),
  dropReaders: Type.Optional(
    Type.Array(Strict({ principalType: ReaderType, principalId: PrincipalId }), {
      maxItems: limits.rekeyGrantsMax,
      description:
        'Readers of the server (the rotator, sync connections) that should lose the key. If a reader of the server has the key, but is neither in this list nor in `grants`, the answer is 409',
    }),
  ),
  secrets: Type.Array(ResealedSecret, {
    maxItems: limits.rekeySecretsMax,
    description: 'All secrets of the environment, encrypted with the new key',
  }),
  details: Type.Optional(
    Type.Array(RekeyDetails, {
      maxItems: limits.rekeySecretsMax,
      description:
        'The description and tags of each secret that has them, encrypted with the new key. If one is missing here, or has changed since the caller read it, the answer is 409. Without this list, the server deletes all of them',
    }),
  ),
  recoveryWrappedDek: Type.Optional(RecoveryWrappedDek),
  manifests: Type.Optional(
    Type.Array(Strict({ environmentId: Id('environment'), manifest: BranchManifest }), {
      maxItems: limits.rekeyManifestsMax,
      description:
        'A new manifest for each branch of the environment, or for the environment itself if it is a branch. The old manifests belong to the old key. If this list has no new manifest for a branch, the server deletes the old one',
    }),
  ),
})

/**
 * A proposed re-key as a reviewer sees it. A caller without the key of the environment gets no ciphertext. Nobody gets the
 * new key that is wrapped to somebody else.
 */
export const ProposedRekey = Strict({
  stale: Type.Boolean({
    description:
      'True if a secret, a description or a grant has changed since the proposal. An approval then only closes the change',
  }),
  grants: Type.Array(Holder, { description: 'The readers who get the new key. Every other reader loses access' }),
  covered: Type.Boolean({ description: 'True if the new key is also wrapped for the recovery key' }),
  wrappedDek: {
    ...Nullable(WrappedKey),
    description: 'The new key, wrapped for the caller. null if the caller does not get it',
  },
  secrets: Nullable(Type.Array(Strict({ ...ResealedSecret.properties, expectedVersion: Version }))),
  details: {
    ...Nullable(Type.Array(Strict({ name: SecretName, sealed: Nullable(SealedDetails) }))),
    description: 'The new ciphertexts of the descriptions. Also null if the re-key deletes all descriptions',
  },
})
