import { Type } from 'typebox'
import { limits } from '../limits.ts'
import { blobPattern } from '../prefixes.ts'
import { Id, Instant, Nullable, Strict } from '../schema.ts'
import { vendorList } from '../vendors.ts'
import { TargetId } from './fields.ts'
import { type LeaseTag, leaseProviders } from './providers.ts'

const tags = Object.keys(leaseProviders) as LeaseTag[]

export const Provider = Type.Unsafe<LeaseTag>(
  Type.Union(
    tags.map((tag) => Type.Literal(tag)),
    { description: `Tag of the target’s vendor: ${vendorList(tags)}` },
  ),
)

/** The row of its provider (providers.ts) checks the other members. */
export const Config = Type.Object(
  { provider: Provider },
  {
    additionalProperties: true,
    maxProperties: 30,
    description: 'The settings of the target. The fields depend on the provider',
  },
)

export const AdminSecret = Type.String({
  maxLength: limits.wrappedCredentialCharacters,
  pattern: blobPattern('wd1'),
  description:
    'The credential that signs in to the target. The client encrypts it with the public key of the broker (`leases.brokerKey`), or of the service token of your provisioner',
})

export const LeaseTarget = Strict({
  id: TargetId,
  name: Type.String(),
  provider: Provider,
  config: Config,
  status: Type.Union(
    [Type.Literal('untested'), Type.Literal('ready'), Type.Literal('failing'), Type.Literal('paused')],
    {
      description:
        '`paused`: the driver (the program part that connects to the target) crashed three times in a row. Verify the target to use it again',
    },
  ),
  lastError: Nullable(Type.String()),
  server: Nullable(Type.String({ description: 'Version that the target reported at its last verification' })),
  notes: Type.Array(Type.String(), { description: 'Notes for an admin' }),
  createdAt: Instant,
  updatedAt: Instant,
})

export const leaseStatuses = [
  'pending',
  'creating',
  'active',
  'revoking',
  'expired',
  'revoked',
  'failed',
  'orphaned',
] as const

export const Lease = Strict({
  id: Id('lease'),
  targetId: Nullable(TargetId),
  provider: Provider,
  status: Type.Unsafe<(typeof leaseStatuses)[number]>(Type.Union(leaseStatuses.map((status) => Type.Literal(status)))),
  resourceRef: Nullable(Type.String({ description: 'Name of the account, or serial number of the certificate' })),
  requestedByType: Type.String(),
  requestedById: Type.String(),
  ttlSeconds: Type.Integer(),
  createdAt: Instant,
  expiresAt: Instant,
  revokedAt: Nullable(Instant),
  revokedById: Nullable(Type.String()),
  lastError: Nullable(Type.String()),
})
