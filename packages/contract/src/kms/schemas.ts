import { Type } from 'typebox'
import { Id, Instant, Nullable, PrincipalType, Strict, Version, WrappedKey } from '../schema.ts'
import { type KmsPurpose, type KmsSpec, kmsSpecs } from './specs.ts'

export const Purpose = Type.Unsafe<KmsPurpose>(
  Type.Union([Type.Literal('encrypt'), Type.Literal('sign')], {
    description: 'Whether the key encrypts or signs. It must match `spec`',
  }),
)

export const Spec = Type.Unsafe<KmsSpec>(
  Type.Union(
    Object.keys(kmsSpecs).map((spec) => Type.Literal(spec)),
    { description: 'The algorithm, which decides whether the key encrypts or signs' },
  ),
)

export const KmsKey = Strict({
  id: Id('kmsKey'),
  name: Type.String(),
  purpose: Purpose,
  spec: Spec,
  applicationId: Nullable(Id('application')),
  groupId: Nullable(Id('group')),
  currentVersion: Version,
  disabled: Type.Boolean(),
  createdAt: Instant,
  updatedAt: Instant,
})

export const KmsVersion = Strict({ version: Version, publicKeyJwk: Nullable(Type.String()), createdAt: Instant })

export const grantFields = {
  principalType: Type.Union(PrincipalType.anyOf, {
    description: 'Whether the holder of the key is a person or a service token',
  }),
  principalId: Type.String({
    maxLength: 64,
    pattern: '^[A-Za-z0-9_]+$',
    description: 'The id of the person or service token that has or receives the key',
  }),
  wrappedKey: Type.String({
    ...WrappedKey,
    description: 'The managed key, encrypted with the public key of the recipient',
  }),
}

/** A managed key, wrapped to one grantee. */
export const NewKmsGrant = Strict(grantFields)
