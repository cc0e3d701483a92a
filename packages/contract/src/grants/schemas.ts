import { Type } from 'typebox'
import { PrincipalId, WrappedDek } from '../envs/schemas.ts'
import { limits } from '../limits.ts'
import { Id, Instant, Nullable, PrincipalType, PublicKeyJwk, Strict, WrappedKey } from '../schema.ts'

/** The time after which a temporary grant ends. */
export const GrantSeconds = Type.Integer({
  minimum: limits.grantSecondsMin,
  maximum: limits.grantSecondsMax,
  description: 'Seconds after which the server ends the grant. Without this field, the grant does not end',
})

/** The instant at which the server ends a grant by itself; null if it does not. */
const EndsAt = Nullable(Instant)

export const KeyGrant = Strict({
  id: Id('keyGrant'),
  environmentId: Id('environment'),
  principalType: Type.String(),
  principalId: Type.String(),
  wrappedDek: Type.String(),
  createdAt: Instant,
  endsAt: EndsAt,
})

const Name = Nullable(Type.String({ description: 'The current name' }))

export const Reader = Strict({
  grantId: Id('keyGrant'),
  principalType: Type.String(),
  principalId: Type.String(),
  name: Name,
  since: Instant,
  endsAt: EndsAt,
  grantedByType: Type.String(),
  grantedById: Type.String(),
  grantedByName: Name,
  inForce: Type.Boolean({
    description:
      'False for a token that is revoked or has expired. Such a token still has the key, but the server refuses it',
  }),
})

/** A holder of an environment’s key, without the wrapped key. */
export const Access = Strict({
  environmentId: Id('environment'),
  label: Type.String({ description: '`app/env`, `app/env@branch` or `group:env`' }),
  principalType: Type.String(),
  principalId: Type.String(),
  name: Name,
  since: Instant,
  endsAt: EndsAt,
  inForce: Type.Boolean({ description: 'False for a token that was revoked or has expired' }),
})

export const RecoveryReaders = Strict({
  since: Instant,
  threshold: Type.Integer({ description: 'How many of these custodians must act together' }),
  custodians: Type.Array(Strict({ userId: Id('user'), name: Name })),
})

/** A key that a person shall have and does not have. The server stores the wish; only a client can grant the key. */
export const MissingGrant = Strict({
  environmentId: Id('environment'),
  label: Type.String({ description: '`app/env` or `group:env`' }),
  principalType: Type.Literal('user'),
  principalId: Id('user'),
  name: Nullable(Type.String({ description: 'The name that the person chose' })),
  email: Nullable(Type.String()),
  publicKeyJwk: Nullable(Type.String({ description: 'null if the person has no keyring yet' })),
  teamIds: Type.Array(Id('team'), { description: 'Teams because of which the person should have this key' }),
  planned: Type.Boolean({ description: 'True if the key is planned for the person without a team' }),
  held: Type.Boolean({
    description: 'True if the caller can grant the key: the caller has it, and the caller’s own access does not end',
  }),
  heldUntil: Nullable(
    Type.String({
      ...Instant,
      description:
        'When the caller’s temporary access to the environment ends. The caller cannot grant the key for longer',
    }),
  ),
})

export const GivenGrant = Strict({
  environmentId: Id('environment'),
  principalType: PrincipalType,
  principalId: PrincipalId,
  wrappedDek: WrappedDek,
  publicKeyJwk: Type.Unsafe<string>({
    ...PublicKeyJwk,
    description: 'The public key of this person or token, with which you wrapped the environment’s key',
  }),
  ownWrappedDek: Type.Unsafe<string>({
    ...WrappedKey,
    description:
      'The caller’s own wrapped key, as `grants.own` returned it. If the environment was re-keyed since then, this grant fails',
  }),
  direct: Type.Optional(
    Type.Boolean({
      description:
        'true: the person keeps the key after leaving a team. false: grant the key only if a team or the plan of the person includes the environment. If neither includes it, the grant fails. Default: true if no team of the person includes the environment',
    }),
  ),
})

export const grantConflicts = [
  'no_environment',
  'not_held',
  'key_replaced',
  'no_principal',
  'public_key_changed',
  'bound_elsewhere',
  'not_planned',
] as const

const GrantConflict = Type.Unsafe<(typeof grantConflicts)[number]>(
  Type.Union(grantConflicts.map((reason) => Type.Literal(reason))),
)

export const GrantResult = Strict({
  environmentId: Id('environment'),
  principalType: PrincipalType,
  principalId: PrincipalId,
  result: Type.Union([Type.Literal('done'), Type.Literal('already'), Type.Literal('conflict')]),
  reason: Nullable(GrantConflict),
  grantId: Nullable(Id('keyGrant')),
})
