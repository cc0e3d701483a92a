import { Type } from 'typebox'
import { Id, Instant, Nullable, Role, Strict } from '../schema.ts'

/** A credential, a lease or an invitation of the person, which the start of an offboarding revokes or ends. */
export const OffboardingRevoked = Strict({
  kind: Type.Union([
    Type.Literal('service_token'),
    Type.Literal('machine_client'),
    Type.Literal('agent'),
    Type.Literal('platform_key'),
    Type.Literal('lease'),
    Type.Literal('invitation'),
  ]),
  id: Type.String(),
  name: Type.String(),
})

const Recovery = Nullable(
  Strict({
    sharesLeft: Type.Integer({ description: 'Number of custodians who have a share, without this person' }),
    threshold: Type.Integer({ description: 'Number of shares that a recovery needs' }),
  }),
)

const Via = Type.Union([Type.Literal('grant'), Type.Literal('token')], {
  description:
    '`grant`: the person had the key. `token`: only a service token that they made had the key. Keys that they lost earlier also count, while a value that they may know is unchanged',
})

export const Offboarding = Strict({
  id: Id('offboarding'),
  userId: Id('user'),
  email: Nullable(Type.String({ description: 'The e-mail address at the start of the offboarding' })),
  name: Nullable(Type.String()),
  startedByType: Type.String(),
  startedById: Type.String(),
  startedAt: Instant,
  finishedByType: Nullable(Type.String()),
  finishedById: Nullable(Type.String()),
  finishedAt: Nullable(Instant),
  revoked: Type.Array(OffboardingRevoked),
  rows: Type.Integer({ description: 'Number of rows' }),
  open: Type.Integer({ description: 'Number of rows that are open' }),
  recovery: Recovery,
})

export const OffboardingRow = Strict({
  id: Id('offboardingRow'),
  kind: Type.Union([Type.Literal('recovery_share'), Type.Literal('rekey'), Type.Literal('rotate_value')]),
  state: Type.Union(
    [
      Type.Literal('waiting'),
      Type.Literal('done'),
      Type.Literal('rotated'),
      Type.Literal('replaced'),
      Type.Literal('not_needed'),
      Type.Literal('deleted'),
    ],
    {
      description:
        '`rotated`: the rotator has replaced the value. `deleted`: the environment or the secret no longer exists',
    },
  ),
  environmentId: Nullable(Id('environment')),
  label: Nullable(
    Type.String({
      description: '`app/env`, `app/env@branch` or `group:env`, with the names at the start of the offboarding',
    }),
  ),
  secretName: Nullable(Type.String()),
  via: Nullable(Via),
  protected: Type.Boolean({ description: 'True if a re-key waits for approval' }),
  changeRequestId: {
    ...Nullable(Id('changeRequest')),
    description:
      'The proposed re-key of the environment that waits for approval. null if none waits, or if it is stale',
  },
  held: Type.Boolean({ description: 'True if the caller has the key' }),
  holderIds: Type.Array(Id('user'), { description: 'Admins who have the key of the environment' }),
  rotationId: Nullable(Id('rotation')),
  note: Nullable(Type.String()),
  assigneeId: Nullable(Id('user')),
  changedByType: Nullable(Type.String()),
  changedById: Nullable(Type.String()),
  changedAt: Nullable(Instant),
})

export const OffboardingPreview = Strict({
  userId: Id('user'),
  email: Nullable(Type.String()),
  name: Nullable(Type.String()),
  role: Nullable(Role),
  environments: Type.Array(
    Strict({
      environmentId: Id('environment'),
      label: Type.String(),
      via: Via,
      protected: Type.Boolean(),
      held: Type.Boolean(),
      rekeyed: Type.Boolean({ description: 'True if the environment was re-keyed after the person lost its key' }),
      secrets: Type.Integer({ description: 'Number of secrets whose value the person may know' }),
      rotated: Type.Integer({ description: 'Number of these secrets that have a rotation' }),
      deleted: Type.Integer({
        description:
          'Number of deleted secrets that can still be restored. After a re-key of the environment, they can no longer be restored',
      }),
    }),
  ),
  revokes: Type.Array(OffboardingRevoked),
  recovery: Recovery,
  runningId: Nullable(Id('offboarding')),
})
