import { Type } from 'typebox'
import { Id, Nullable, SecretName, Strict } from '../schema.ts'

/** One environment's secrets and the key to them, wrapped to the caller. Later layers override earlier ones. */
export const Layer = Strict({
  source: Type.Union([Type.Literal('group'), Type.Literal('app'), Type.Literal('branch')]),
  environmentId: Id('environment'),
  slug: Type.String(),
  groupSlug: Type.Optional(Type.String()),
  wrappedDek: Type.String(),
  manifest: Type.Optional({
    ...Nullable(Type.String()),
    description: 'The manifest of a branch. Only for a branch, and only if the query asks for proof',
  }),
  secrets: Type.Array(Strict({ name: SecretName, ciphertext: Type.String() })),
})

export const Scope = Strict({
  orgId: Id('organization'),
  orgSlug: Type.String(),
  appId: Id('application'),
  appSlug: Type.String(),
  envId: Id('environment'),
  envSlug: Type.String(),
  branchOf: Type.Optional(Id('environment')),
})
