import { Type } from 'typebox'
import { Id, Instant, Strict } from '../schema.ts'

const AnyId = Type.String({ pattern: '^[A-Za-z0-9_]{1,64}$' })

/** A committed change, by names of actions and by ids alone. A client that needs more asks the ordinary endpoints. */
export const LiveChange = Strict({
  action: Type.String({ description: 'The audit action of the change' }),
  resourceType: Type.String(),
  resourceId: Type.Optional(AnyId),
  actorType: Type.String(),
  actorId: Type.Optional(AnyId),
  applicationId: Type.Optional(AnyId),
  environmentId: Type.Optional(AnyId),
  at: Instant,
})

/** The people who look at an application at the moment. */
export const Presence = Strict({
  applicationId: Id('application'),
  people: Type.Array(Strict({ id: Id('user'), name: Type.String() })),
})

/** The beginning of a stream, or a gap in it: everything read before may be stale. */
export const Hello = Strict({
  generation: Type.String({ description: 'A value that is different for each stream, and changes after lost events' }),
})
