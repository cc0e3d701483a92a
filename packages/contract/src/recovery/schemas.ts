import { type TSchema, Type } from 'typebox'
import { trusted } from '../directory/schemas.ts'
import { limits } from '../limits.ts'
import { Id, Instant, Nullable, PrincipalType, PublicKeyJwk, Strict, WrappedKey } from '../schema.ts'

export const ShareIndex = Type.Integer({ minimum: 1, maximum: limits.recoverySharesMax })

export const Threshold = Type.Integer({ minimum: limits.recoveryThresholdMin, maximum: limits.recoverySharesMax })

/** An environment's key, wrapped to the recovery key. In a completion it is wrapped to the target. */
export const EnvironmentGrant = Strict({ environmentId: Id('environment'), wrappedDek: WrappedKey })

export const Grants = Type.Array(EnvironmentGrant, { maxItems: limits.recoveryGrantsMax })

export const Recovery = Strict({
  recoveryPublicKeyJwk: PublicKeyJwk,
  threshold: Threshold,
  custodians: Type.Array(Strict({ userId: Id('user'), shareIndex: ShareIndex })),
  createdAt: Instant,
  rotatedAt: Nullable(Instant),
  lastDrillAt: Nullable(Instant),
})

export const RecoveryCoverage = Strict({
  protected: Type.Integer(),
  total: Type.Integer(),
  protectedEnvIds: Type.Array(Id('environment')),
  unprotectedEnvIds: Type.Array(Id('environment')),
  custodiansGone: Type.Integer({
    description: 'Custodians who left, or replaced their keys, after the shares were made',
  }),
})

export const CustodianShare = Strict({ userId: Id('user'), shareIndex: ShareIndex, wrappedShare: WrappedKey })

/** A recovery key, with a share of it for each custodian. */
export const KeyAndShares = Strict({
  ...trusted,
  recoveryPublicKeyJwk: PublicKeyJwk,
  threshold: Threshold,
  shares: Type.Array(CustodianShare, {
    minItems: limits.recoveryThresholdMin,
    maxItems: limits.recoverySharesMax,
    description: 'One share for each custodian, which the client makes. A custodian is a member with keys',
  }),
  grants: Grants,
})

export const recoveryRequestStatuses = ['open', 'completed', 'cancelled', 'expired'] as const

const literals = <const T extends string>(texts: readonly T[]) =>
  Type.Unsafe<T>(Type.Union(texts.map((text) => Type.Literal(text)) as TSchema[]))

export const RecoveryRequest = Strict({
  id: Id('recoveryRequest'),
  status: literals(recoveryRequestStatuses),
  drill: Type.Boolean({
    description: 'True for a drill, which shows that enough custodians can take part, and gives nobody access',
  }),
  targetPublicKeyJwk: PublicKeyJwk,
  targetType: Nullable(PrincipalType),
  targetId: Nullable(Type.String()),
  reason: Nullable(Type.String()),
  threshold: Threshold,
  contributed: Type.Integer(),
  requestedByType: Type.String(),
  requestedById: Type.String(),
  createdAt: Instant,
  expiresAt: Instant,
})
