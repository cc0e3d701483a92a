import { Type } from 'typebox'
import { Id, Instant, Strict } from '../schema.ts'

export const Application = Strict({
  id: Id('application'),
  orgId: Id('organization'),
  name: Type.String(),
  slug: Type.String(),
  createdAt: Instant,
  updatedAt: Instant,
})
