import { type TSchema, Type } from 'typebox'
import { trusted } from '../directory/schemas.ts'
import { limits } from '../limits.ts'
import { blobPattern } from '../prefixes.ts'
import { Id, Instant, Nullable, PrincipalType, PublicKeyJwk, Strict } from '../schema.ts'

export const ShareIndex = Type.Integer({
  minimum: 1,
  maximum: limits.recoverySharesMax,
  description: 'Number of the share. Each custodian’s share has a different number',
})

export const Threshold = Type.Integer({
  minimum: limits.recoveryThresholdMin,
  maximum: limits.recoverySharesMax,
  description: 'How many custodians must contribute their shares to a recovery',
})

/** An environment key, wrapped for the recovery key. In a completion it is wrapped for the target. */
const RecoveryDek = Type.String({
  maxLength: limits.wrappedKeyCharacters,
  pattern: blobPattern('wd1'),
  description:
    'The environment’s key, encrypted with the public recovery key. In `recoveryRequests.complete`, the key is encrypted with the public key of the target instead',
})

export const EnvironmentGrant = Strict({ environmentId: Id('environment'), wrappedDek: RecoveryDek })

export const Grants = Type.Array(EnvironmentGrant, {
  maxItems: limits.recoveryGrantsMax,
  description: 'The environments, each with its key',
})

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

export const WrappedShare = Type.String({
  maxLength: limits.wrappedKeyCharacters,
  pattern: blobPattern('wd1'),
  description:
    'A share of the recovery key. The client that makes the shares encrypts each with the public key of its custodian',
})

/** A custodian’s share, which the custodian’s client has encrypted with the public key of a request’s target. */
export const ShareForTarget = Type.String({
  maxLength: limits.wrappedKeyCharacters,
  pattern: blobPattern('wd1'),
  description:
    'The custodian’s share of the recovery key. The custodian’s client encrypts it with the public key of the target',
})

export const CustodianShare = Strict({
  userId: { ...Id('user'), description: 'The custodian' },
  shareIndex: ShareIndex,
  wrappedShare: WrappedShare,
})

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
