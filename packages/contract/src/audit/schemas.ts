import { Type } from 'typebox'
import { Id, Instant, Nullable, Strict } from '../schema.ts'

export const AuditEntry = Strict({
  id: Id('audit'),
  action: Type.String(),
  actorType: Type.String(),
  actorId: Nullable(Type.String()),
  resourceType: Type.String(),
  resourceId: Nullable(Type.String()),
  metadata: Type.Record(Type.String(), Type.Unknown()),
  ipAddress: Nullable(Type.String()),
  userAgent: Nullable(Type.String()),
  requestId: Nullable(Type.String()),
  createdAt: Instant,
})

/** An environment that entries name, with its present name. The entries have its id, which never changes. */
export const AuditEnvironment = Strict({
  name: Type.String(),
  slug: Type.String(),
  parent: Nullable(Strict({ name: Type.String(), slug: Type.String() })),
  owner: Strict({
    type: Type.Union([Type.Literal('application'), Type.Literal('group')]),
    name: Type.String(),
    slug: Type.String(),
  }),
})
