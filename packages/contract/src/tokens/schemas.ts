import { Type } from 'typebox'
import { GivenInstant, Id, Instant, Nullable, Strict } from '../schema.ts'

export const TokenRole = Type.Union([Type.Literal('member'), Type.Literal('admin')])

export const ServiceToken = Strict({
  id: Id('serviceToken'),
  orgId: Id('organization'),
  role: TokenRole,
  environmentId: Nullable(Id('environment')),
  name: Type.String(),
  publicKeyJwk: Type.String(),
  expiresAt: Nullable({ ...GivenInstant, description: 'When the token expires, written as the client sent it' }),
  lastUsedAt: Nullable(Instant),
  revokedAt: Nullable(Instant),
  createdAt: Instant,
  createdByType: Type.String(),
  createdById: Type.String(),
})
