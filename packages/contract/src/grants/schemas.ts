import { Type } from 'typebox'
import { limits } from '../limits.ts'
import { Id, Instant, Nullable, Strict } from '../schema.ts'

/** The time after which a temporary grant ends. */
export const GrantSeconds = Type.Integer({ minimum: limits.grantSecondsMin, maximum: limits.grantSecondsMax })

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

const Name = Nullable(Type.String({ description: 'as it is now' }))

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
    description: 'false of a token that was revoked or has run out: it holds the key, and gets nothing',
  }),
})

/** Who can read an environment, without the wrapped key. */
export const Access = Strict({
  environmentId: Id('environment'),
  label: Type.String({ description: '`app/env`, `app/env@branch` or `group:env`' }),
  principalType: Type.String(),
  principalId: Type.String(),
  name: Name,
  since: Instant,
  endsAt: EndsAt,
  inForce: Type.Boolean({ description: 'false of a token that was revoked or has expired' }),
})

export const RecoveryReaders = Strict({
  since: Instant,
  threshold: Type.Integer({ description: 'so many of these custodians together' }),
  custodians: Type.Array(Strict({ userId: Id('user'), name: Name })),
})
