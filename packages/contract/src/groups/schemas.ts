import { Type } from 'typebox'
import { Id, Instant, Strict } from '../schema.ts'

export const Group = Strict({
  id: Id('group'),
  orgId: Id('organization'),
  name: Type.String(),
  slug: Type.String(),
  createdAt: Instant,
  updatedAt: Instant,
})

/** A group composed into an application environment. A higher position overrides a lower one. */
export const Composition = Strict({
  groupId: Id('group'),
  slug: Type.String(),
  name: Type.String(),
  position: Type.Integer(),
})
