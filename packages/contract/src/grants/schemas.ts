import { Type } from 'typebox'
import { Id, Instant, Nullable, Strict } from '../schema.ts'

export const KeyGrant = Strict({
  id: Id('keyGrant'),
  environmentId: Id('environment'),
  principalType: Type.String(),
  principalId: Type.String(),
  wrappedDek: Type.String(),
  createdAt: Instant,
})

const Name = Nullable(Type.String({ description: 'as it is now' }))

export const Reader = Strict({
  grantId: Id('keyGrant'),
  principalType: Type.String(),
  principalId: Type.String(),
  name: Name,
  since: Instant,
  grantedByType: Type.String(),
  grantedById: Type.String(),
  grantedByName: Name,
  inForce: Type.Boolean({
    description: 'false of a token that was revoked or has run out: it holds the key, and gets nothing',
  }),
})

export const RecoveryReaders = Strict({
  since: Instant,
  threshold: Type.Integer({ description: 'so many of these custodians together' }),
  custodians: Type.Array(Strict({ userId: Id('user'), name: Name })),
})
