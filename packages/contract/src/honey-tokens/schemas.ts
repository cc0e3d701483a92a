import { Type } from 'typebox'
import { Id, Instant, Nullable, Strict } from '../schema.ts'

export const HoneyToken = Strict({
  id: Id('honeyToken'),
  tokenId: Id('serviceToken'),
  placement: Nullable(Type.String()),
  tripCount: Type.Integer(),
  lastTripAt: Nullable(Instant),
  lastTripIp: Nullable(Type.String()),
  lastTripUserAgent: Nullable(Type.String()),
  createdAt: Instant,
})
