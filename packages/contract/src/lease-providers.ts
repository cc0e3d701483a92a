import { type Static, type TObject, Type } from 'typebox'
import { RecipientPublicKey, RoleName, TargetId, TtlSeconds, WrappedCredential } from './lease-fields.ts'
import {
  CloudA,
  CloudB,
  Mongodb,
  Mysql,
  Postgres,
  Principals,
  Redis,
  Ssh,
  SshPublicKey,
  leaseTtlSeconds as ttl,
} from './lease-targets.ts'
import { NativePasswordHash, ScramVerifier, Sha256Digest } from './lease-verifiers.ts'
import { Instant, Strict } from './schema.ts'

// What crosses the wire for each lease provider: a target's config, the body that mints a lease, and what it answers.
// An adapter of the same tag stands in packages/providers/src/leases.

/** How to sign in with the account that the lease made. The password never left the client. */
const Connection = Strict({
  host: Type.String(),
  port: Type.Integer(),
  database: Type.Union([Type.String(), Type.Integer()], {
    description: 'Name of the database; for Redis the index of the logical one',
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
  /** What people call it. */
  label: string
  config: TObject
  mint: TObject
  /** The name of the answer’s field beside `lease`. */
  resultKey: string
  result: TObject
  ttlSeconds: { min: number; max: number }
  /** What the admin credential is, for whoever is asked for it. */
  adminSecret: string
  /** False where the target cannot take a credential back: revoking marks the ledger alone. */
  revocable: boolean
}

/** Every lease provider, by tag. */
export const leaseProviders = {
  postgres: {
    label: 'PostgreSQL',
    config: Postgres,
    mint: verifierMint('postgres', ScramVerifier),
    resultKey: 'connection',
    result: Connection,
    ttlSeconds: ttl.database,
    adminSecret:
      'Connection string (postgres://user:password@host:port/database) of an account with CREATEROLE that may grant on the schema. Make one for Skerry alone.',
    revocable: true,
  },
  mysql: {
    label: 'MySQL or MariaDB',
    config: Mysql,
    mint: verifierMint('mysql', NativePasswordHash),
    resultKey: 'connection',
    result: Connection,
    ttlSeconds: ttl.database,
    adminSecret:
      'Connection string (mysql://user:password@host:port/database) of an account with CREATE USER, CONNECTION ADMIN, SELECT on mysql.* and the leases’ rights with GRANT OPTION.',
    revocable: true,
  },
  redis: {
    label: 'Redis or Valkey',
    config: Redis,
    mint: verifierMint('redis', Sha256Digest),
    resultKey: 'connection',
    result: Connection,
    ttlSeconds: ttl.database,
    adminSecret:
      'Connection string (redis://user:password@host:port/db) of an account that may run ACL, INFO and CONFIG GET.',
    revocable: true,
  },
  ssh: {
    label: 'SSH certificates',
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
    ttlSeconds: ttl.ssh,
    adminSecret: 'Private key of the certificate authority (OpenSSH or PEM), without a passphrase.',
    revocable: false,
  },
  'cloud-a': {
    label: 'AWS roles',
    config: CloudA,
    mint: recipientMint('cloud-a', ttl.cloudA),
    resultKey: 'cloudA',
    result: Strict({
      wrappedCredential: WrappedCredential,
      region: Type.String(),
      roleArn: Type.String(),
      expiresAt: Instant,
    }),
    ttlSeconds: ttl.cloudA,
    adminSecret: 'Access key of an IAM user that may assume the role, as JSON: { "accessKeyId", "secretAccessKey" }.',
    revocable: false,
  },
  'cloud-b': {
    label: 'Google service accounts',
    config: CloudB,
    mint: recipientMint('cloud-b', ttl.cloudB),
    resultKey: 'cloudB',
    result: Strict({
      wrappedCredential: WrappedCredential,
      serviceAccount: Type.String(),
      scopes: Type.Array(Type.String()),
      expiresAt: Instant,
    }),
    ttlSeconds: ttl.cloudB,
    adminSecret: 'Key (JSON) of a service account that may create tokens for the target account.',
    revocable: false,
  },
  mongodb: {
    label: 'MongoDB',
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
    ttlSeconds: ttl.database,
    adminSecret:
      'Connection string (mongodb://user:password@host:port/database) of an account with userAdmin on the accounts’ database.',
    revocable: true,
  },
} satisfies Record<string, Row>

export type LeaseTag = keyof typeof leaseProviders
export type LeaseConfig<T extends LeaseTag> = Static<(typeof leaseProviders)[T]['config']>
export type LeaseMint<T extends LeaseTag> = Static<(typeof leaseProviders)[T]['mint']>
export type LeaseResult<T extends LeaseTag> = Static<(typeof leaseProviders)[T]['result']>
