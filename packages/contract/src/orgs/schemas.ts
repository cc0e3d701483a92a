import { Type } from 'typebox'
import { Id, Instant, Role, Strict } from '../schema.ts'

export const Organization = Strict({
  id: Id('organization'),
  name: Type.String(),
  slug: Type.String(),
  role: Type.Union([Role], { description: 'The caller’s role' }),
  createdAt: Instant,
  updatedAt: Instant,
})
