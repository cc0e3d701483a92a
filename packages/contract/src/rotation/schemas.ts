import { Type } from 'typebox'
import { TargetId } from '../leases/fields.ts'
import { Id, Instant, Nullable, SecretName, Strict, Version } from '../schema.ts'
import { type RotationKind, rotationKinds } from './kinds.ts'

const kinds = Object.keys(rotationKinds) as RotationKind[]

const Kind = Type.Unsafe<RotationKind>(
  Type.Union(
    kinds.map((kind) => Type.Literal(kind)),
    {
      description:
        '`generated`: the new value is a random text. Other kinds: the new value is the password of an account on a target of this kind',
    },
  ),
)

/** The row of its kind (kinds.ts) checks the other members. */
export const Config = Type.Object(
  { kind: Kind },
  {
    additionalProperties: true,
    maxProperties: 10,
    description: 'How the server makes the new value. The fields depend on `kind`',
  },
)

export const rotationStatuses = ['active', 'paused'] as const

export const Status = Type.Union([Type.Literal('active'), Type.Literal('paused')], {
  description: '`paused`: the server rotates the secret only when somebody calls `rotation.rotate`',
})

export const Rotation = Strict({
  id: Id('rotation'),
  environmentId: Id('environment'),
  secretName: SecretName,
  kind: Kind,
  config: Config,
  intervalSeconds: Type.Integer(),
  targetId: Nullable(TargetId),
  status: Status,
  lastRunAt: Nullable(Instant),
  nextRunAt: Nullable(Type.String({ ...Instant, description: 'null while the rotation is paused' })),
  lastVersion: Nullable(Version),
  lastError: Nullable(Type.String()),
  failureStreak: Type.Integer({ description: 'Number of failed runs in a row' }),
  createdAt: Instant,
  updatedAt: Instant,
})
