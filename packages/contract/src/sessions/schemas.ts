import { Type } from 'typebox'
import { Id, Instant, Nullable, Strict } from '../schema.ts'

export const WebSession = Strict({
  id: Id('session'),
  createdAt: Instant,
  lastUsedAt: Instant,
  expiresAt: Instant,
  ipAddress: Nullable(Type.String()),
  userAgent: Nullable(Type.String()),
})
