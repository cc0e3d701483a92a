import { type TSchema, Type } from 'typebox'
import { Id, Instant, Nullable, Strict } from '../schema.ts'

export const accessRequestStatuses = ['open', 'granted', 'declined', 'withdrawn', 'expired'] as const

const literals = <const T extends string>(texts: readonly T[]) =>
  Type.Unsafe<T>(Type.Union(texts.map((text) => Type.Literal(text)) as TSchema[]))

/** An environment that somebody asks for. */
const AccessRequestEnvironment = Strict({
  environmentId: Id('environment'),
  label: Type.String({ description: '`app/env`, `app/env@branch` or `group:env`' }),
  granted: Type.Boolean({ description: 'True if the person has the key now' }),
  endsAt: Nullable(
    Type.String({
      description: 'When the access expires. null if it does not expire, or if the person does not have the key',
    }),
  ),
  held: Type.Boolean({ description: 'True if the caller is an admin who has the key, and can grant it' }),
})

export const AccessRequest = Strict({
  id: Id('accessRequest'),
  status: literals(accessRequestStatuses),
  userId: Id('user'),
  environments: Type.Array(AccessRequestEnvironment),
  reason: Nullable(Type.String()),
  forSeconds: Nullable(
    Type.Integer({
      description:
        'Seconds for which the person needs the keys. The admin who grants the keys sets the end of the access',
    }),
  ),
  createdAt: Instant,
  expiresAt: Instant,
  closedAt: Nullable(Instant),
  closedByType: Nullable(Type.String()),
  closedById: Nullable(Type.String()),
  answer: Nullable(Type.String({ description: 'The reason of the admin who declined' })),
})
