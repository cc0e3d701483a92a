import { type Static, type TObject, Type } from 'typebox'
import { Instant, Strict } from '../schema.ts'
import { type LeaseTag, leaseFacts, leaseTtlSeconds as ttl } from './facts.ts'
import { RecipientPublicKey, RoleName, TargetId, TtlSeconds, WrappedCredential } from './fields.ts'
import { CloudA, CloudB, Mongodb, Mysql, Postgres, Principals, Redis, Ssh, SshPublicKey } from './targets.ts'
import { NativePasswordHash, ScramVerifier, Sha256Digest } from './verifiers.ts'

// The wire format of each lease provider: a target's config, the body that mints a lease, and the answer. The adapter
// for each tag is in packages/providers/src/leases.

/** The data to sign in with the lease's account. The password never left the client. */
const Connection = Strict({
  host: Type.String(),
  port: Type.Integer(),
  database: Type.Union([Type.String(), Type.Integer()], {
    description: 'Name of the database. For Redis: the index of the logical database',
  }),
  username: Type.String(),
  expiresAt: Instant,
})

const verifierMint = <P extends 'postgres' | 'mysql' | 'redis'>(
  provider: P,
  verifier: typeof ScramVerifier | typeof NativePasswordHash | typeof Sha256Digest,
) =>
  Strict({
    provider: Type.Literal(provider),
    targetId: TargetId,
    roleName: RoleName,
    verifier,
    ttlSeconds: TtlSeconds(ttl.database),
  })

const recipientMint = <P extends 'cloud-a' | 'cloud-b' | 'mongodb'>(provider: P, range: { min: number; max: number }) =>
  Strict({
    provider: Type.Literal(provider),
    targetId: TargetId,
    recipientPublicKey: RecipientPublicKey,
    ttlSeconds: TtlSeconds(range),
  })

interface Row {
  config: TObject
  mint: TObject
  /** The name of the result's field in the answer, beside `lease`. */
  resultKey: string
  result: TObject
}

/** Every lease provider, by tag. */
export const leaseProviders = {
  postgres: {
    ...leaseFacts.postgres,
    config: Postgres,
    mint: verifierMint('postgres', ScramVerifier),
    resultKey: 'connection',
    result: Connection,
  },
  mysql: {
    ...leaseFacts.mysql,
    config: Mysql,
    mint: verifierMint('mysql', NativePasswordHash),
    resultKey: 'connection',
    result: Connection,
  },
  redis: {
    ...leaseFacts.redis,
    config: Redis,
    mint: verifierMint('redis', Sha256Digest),
    resultKey: 'connection',
    result: Connection,
  },
  ssh: {
    ...leaseFacts.ssh,
    config: Ssh,
    mint: Strict({
      provider: Type.Literal('ssh'),
      targetId: TargetId,
      publicKey: SshPublicKey('Public key for which the certificate is made.'),
      principals: Principals('Login names that the certificate is for.'),
      ttlSeconds: TtlSeconds(ttl.ssh),
    }),
    resultKey: 'ssh',
    result: Strict({
      certificate: Type.String(),
      principals: Type.Array(Type.String()),
      caPublicKey: Type.String(),
      expiresAt: Instant,
    }),
  },
  'cloud-a': {
    ...leaseFacts['cloud-a'],
    config: CloudA,
    mint: recipientMint('cloud-a', ttl.cloudA),
    resultKey: 'cloudA',
    result: Strict({
      wrappedCredential: WrappedCredential,
      region: Type.String(),
      roleArn: Type.String(),
      expiresAt: Instant,
    }),
  },
  'cloud-b': {
    ...leaseFacts['cloud-b'],
    config: CloudB,
    mint: recipientMint('cloud-b', ttl.cloudB),
    resultKey: 'cloudB',
    result: Strict({
      wrappedCredential: WrappedCredential,
      serviceAccount: Type.String(),
      scopes: Type.Array(Type.String()),
      expiresAt: Instant,
    }),
  },
  mongodb: {
    ...leaseFacts.mongodb,
    config: Mongodb,
    mint: recipientMint('mongodb', ttl.database),
    resultKey: 'mongodb',
    result: Strict({
      wrappedCredential: WrappedCredential,
      username: Type.String(),
      host: Type.String(),
      port: Type.Integer(),
      database: Type.String(),
      authSource: Type.String(),
      expiresAt: Instant,
    }),
  },
} satisfies Record<LeaseTag, Row>

export type { LeaseTag } from './facts.ts'
/** The settings of a lease target of one kind. */
export type LeaseConfig<T extends LeaseTag> = Static<(typeof leaseProviders)[T]['config']>
export type LeaseMint<T extends LeaseTag> = Static<(typeof leaseProviders)[T]['mint']>
/** The data that the server returns, in addition to the lease itself, for a new lease on one kind of target. */
export type LeaseResult<T extends LeaseTag> = Static<(typeof leaseProviders)[T]['result']>
