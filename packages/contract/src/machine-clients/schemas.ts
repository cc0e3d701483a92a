import { Type } from 'typebox'
import { Id, Instant, Nullable, Strict } from '../schema.ts'

export const MachineClient = Strict({
  id: Id('machineClient'),
  orgId: Id('organization'),
  name: Type.String(),
  lastUsedAt: Nullable(Instant),
  revokedAt: Nullable(Instant),
  createdAt: Instant,
})
