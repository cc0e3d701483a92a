import { Type } from 'typebox'
import { Id, Instant, Nullable, PrincipalType, Strict } from '../schema.ts'

export const User = Strict({
  id: Id('user'),
  email: Nullable(Type.String()),
  name: Nullable(Type.String()),
  publicKeyJwk: Nullable(Type.String()),
  createdAt: Instant,
})

/** Another holder of the same key. */
export const KeyHolder = Strict({
  principalType: PrincipalType,
  principalId: Type.String(),
  name: Nullable(Type.String()),
})

/** An environment whose key the caller has, and the holders who could grant it to the caller again. */
export const KeyHolding = Strict({
  orgId: Id('organization'),
  orgSlug: Type.String(),
  environmentId: Id('environment'),
  label: Type.String({ description: '`app/env`, `app/env@branch` or `group:env`' }),
  grantableBy: Type.Array(KeyHolder, {
    description:
      'Other admins and admin tokens that have the key. If the list is empty, nobody can grant the key again',
  }),
})
