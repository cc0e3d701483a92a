import { Type } from 'typebox'
import { limits } from '../limits.ts'
import { DisplayName, Id, Instant, Nullable, PrincipalType, Slug, Strict, WrappedKey } from '../schema.ts'

const environmentFields = {
  id: Id('environment'),
  applicationId: Nullable(Id('application')),
  groupId: Nullable(Id('group')),
  parentEnvironmentId: Nullable(Id('environment')),
  name: Type.String(),
  slug: Type.String(),
  expiresAt: Nullable(Instant),
  createdAt: Instant,
  updatedAt: Instant,
}

/** Exactly one of `applicationId` and `groupId` is set; a branch also has `parentEnvironmentId`. */
export const Environment = Strict(environmentFields)

/**
 * Says for readers of the parent which environment a branch is. A reader of the parent makes it, and the server cannot check
 * it. Its format is in docs/directory-format.md.
 */
export const BranchManifest = Type.String({
  maxLength: limits.branchManifestCharacters,
  pattern: '^bm1\\.[A-Za-z0-9_-]+\\.[A-Za-z0-9_-]+$',
  description:
    'A manifest: a text that describes the branch. The client that makes it adds a code, which only a reader of the parent environment can compute. So other readers notice if the server invents a branch',
})

export const Branch = Strict({ ...environmentFields, manifest: Nullable(BranchManifest) })

export const EnvironmentWithAccess = Strict({
  ...environmentFields,
  canDecrypt: Type.Boolean({ description: 'True if the caller has the environment’s key' }),
})

export const OwnWrappedDek = Type.String({
  ...WrappedKey,
  description: 'The new key of the environment or branch, encrypted with the public key of the caller',
})

export const RecoveryWrappedDek = Type.String({
  ...WrappedKey,
  description:
    'The new key of the environment or branch, encrypted with the public recovery key of the organization. The server stores it only if the organization has a recovery key',
})

export const CreateEnvironment = Strict({
  name: DisplayName,
  slug: Slug,
  wrappedDek: OwnWrappedDek,
  recoveryWrappedDek: Type.Optional(RecoveryWrappedDek),
})

export const PrincipalId = Type.String({
  maxLength: 64,
  pattern: '^[A-Za-z0-9_]+$',
  description: 'The id of the reader. `principalType` says what kind of reader it is',
})

export const WrappedDek = Type.String({
  ...WrappedKey,
  description: 'The environment’s key, encrypted with the public key of this reader',
})

export const BranchGrant = Strict({ principalType: PrincipalType, principalId: PrincipalId, wrappedDek: WrappedDek })
