import { type Static, type TObject, Type } from 'typebox'
import {
  AccessLevel,
  AllowedTtl,
  CaCertificate,
  CreateStatements,
  Executor,
  Host,
  Port,
  ProvisionerTokenId,
  RecipientPublicKey,
  RevokeStatements,
  RoleName,
  SqlConnection,
  TargetId,
  Tls,
  TtlSeconds,
  WrappedCredential,
} from './lease-fields.ts'
import { NativePasswordHash, ScramVerifier, Sha256Digest } from './lease-verifiers.ts'
import { Instant, Strict } from './schema.ts'

// What crosses the wire for each lease provider: a target's config, the body that mints a lease, and what it answers.
// An adapter of the same tag stands in packages/providers/src/leases.

/** Lifetimes that a mint may ask for. A target’s `maxTtlSeconds` narrows them. */
const ttl = {
  database: { min: 60, max: 86_400 },
  ssh: { min: 60, max: 43_200 },
  cloudA: { min: 900, max: 43_200 },
  cloudB: { min: 60, max: 43_200 },
} as const

/** Clouds grant no more without being told to; a target that allows more proves it when it is registered. */
export const cloudTtlDefaultMaxSeconds = 3600

const InBroker = Type.Literal('in_broker', { description: 'This server signs in to the target.' })

const Postgres = Strict({
  provider: Type.Literal('postgres'),
  executor: Executor,
  connection: SqlConnection,
  accessLevel: AccessLevel,
  schema: Type.String({
    pattern: '^[A-Za-z_][A-Za-z0-9_$-]{0,62}$',
    description: 'Schema whose tables a lease may use.',
  }),
  createStatements: CreateStatements,
  revokeStatements: RevokeStatements,
  maxTtlSeconds: AllowedTtl(ttl.database.max),
  provisionerTokenId: ProvisionerTokenId,
})

const Mysql = Strict({
  provider: Type.Literal('mysql'),
  executor: Executor,
  connection: SqlConnection,
  accessLevel: AccessLevel,
  userHost: Type.String({
    pattern: '^[A-Za-z0-9_.:%/-]{1,60}$',
    description: 'Hosts from which a lease may sign in, as in MySQL’s account names: `%` for any, or `10.0.%`.',
  }),
  createStatements: CreateStatements,
  revokeStatements: RevokeStatements,
  maxTtlSeconds: AllowedTtl(ttl.database.max),
  provisionerTokenId: ProvisionerTokenId,
})

const Redis = Strict({
  provider: Type.Literal('redis'),
  executor: Executor,
  connection: Strict({
    host: Host,
    port: Port,
    db: Type.Optional(
      Type.Integer({
        minimum: 0,
        maximum: 65_535,
        description: 'Logical database that clients select. Redis does not keep an account out of the others.',
      }),
    ),
    tls: Type.Optional(Tls),
    caCertificate: Type.Optional(CaCertificate),
  }),
  accessLevel: AccessLevel,
  rules: Type.Optional(
    Type.Array(
      Type.String({
        maxLength: 200,
        pattern:
          '^(?:[+-][@A-Za-z0-9|_-]+|(?:~|%R~|%W~|%RW~|&)[^\\s"\'\\\\\\u0000-\\u001f]+|allkeys|resetkeys|allchannels|resetchannels|allcommands|nocommands)$',
      }),
      {
        minItems: 1,
        maxItems: 100,
        description:
          'ACL rules of an account at the level `custom`, such as `~cache:*` and `+@read`, in order. They may hold {{roleName}}.',
      },
    ),
  ),
  maxTtlSeconds: AllowedTtl(ttl.database.max),
  provisionerTokenId: ProvisionerTokenId,
})

export const sshExtensions = [
  'no-touch-required',
  'permit-X11-forwarding',
  'permit-agent-forwarding',
  'permit-port-forwarding',
  'permit-pty',
  'permit-user-rc',
] as const

/** A login name as certificates carry it: nothing that OpenSSH would split or a shell would read. */
export const sshPrincipalPattern = '^[A-Za-z0-9_][A-Za-z0-9_.@-]{0,63}$'
const Principals = (description: string) =>
  Type.Array(Type.String({ pattern: sshPrincipalPattern }), {
    minItems: 1,
    maxItems: 32,
    uniqueItems: true,
    description,
  })

const SshPublicKey = (description: string) =>
  Type.String({
    maxLength: 4096,
    pattern: '^[a-z0-9@.-]+ [A-Za-z0-9+/]+={0,2}(?: [\\u0020-\\u007e]*)?$',
    description,
  })

const Ssh = Strict({
  provider: Type.Literal('ssh'),
  executor: InBroker,
  caPublicKey: SshPublicKey('Public key of the certificate authority, as the hosts have it in TrustedUserCAKeys.'),
  allowedPrincipals: Type.Optional(
    Principals('Login names that a lease may ask for. Without it any name can be asked.'),
  ),
  extensions: Type.Optional(
    Type.Array(Type.Union(sshExtensions.map((name) => Type.Literal(name))), {
      uniqueItems: true,
      description: 'What a session may do beside running a command. Default: a terminal (`permit-pty`).',
    }),
  ),
  forceCommand: Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: 1000,
      pattern: '^[\\u0020-\\u007e]+$',
      description: 'The only command that a session runs, whatever it asks for.',
    }),
  ),
  sourceAddresses: Type.Optional(
    Type.Array(Type.String({ pattern: '^[0-9a-fA-F.:]+(?:/[0-9]{1,3})?$' }), {
      minItems: 1,
      maxItems: 32,
      description: 'Addresses or networks (CIDR) from which a certificate can be used.',
    }),
  ),
  maxTtlSeconds: AllowedTtl(ttl.ssh.max),
  connection: Type.Optional(
    Strict({
      host: Host,
      port: Type.Optional(Port),
      user: Type.Optional(
        Type.String({ pattern: sshPrincipalPattern, description: 'Login name that clients use by default.' }),
      ),
    }),
  ),
})

const CloudA = Strict({
  provider: Type.Literal('cloud-a'),
  executor: InBroker,
  roleArn: Type.String({
    pattern: '^arn:aws[a-z-]*:iam::[0-9]{12}:role/[A-Za-z0-9+=,.@_/-]{1,512}$',
    description: 'ARN of the role that leases assume. Its trust policy must allow the base credential.',
  }),
  region: Type.String({
    pattern: '^[a-z]{2}(?:-[a-z]+){1,3}-[0-9]$',
    description: 'Region whose security token service is asked.',
  }),
  externalId: Type.Optional(
    Type.String({
      pattern: '^[A-Za-z0-9_+=,.@:/-]{2,1224}$',
      description: 'External id that the role’s trust policy asks for.',
    }),
  ),
  sessionPolicy: Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: 2048,
      pattern: '^[\\u0009\\u000a\\u000d\\u0020-\\u00ff]+$',
      description: 'Policy (JSON) that narrows what the role may do. A lease has the rights that both allow.',
    }),
  ),
  maxTtlSeconds: Type.Optional(
    Type.Integer({
      minimum: ttl.cloudA.min,
      maximum: ttl.cloudA.max,
      description: 'Longest lifetime of a lease, in seconds: at most the role’s MaxSessionDuration. Default: 3600.',
    }),
  ),
})

const CloudB = Strict({
  provider: Type.Literal('cloud-b'),
  executor: InBroker,
  serviceAccount: Type.String({
    pattern: '^(?:[a-z0-9-]{1,63}@[a-z0-9.-]{1,190}\\.gserviceaccount\\.com|[0-9]{15,25})$',
    description: 'Service account for which access tokens are made: its e-mail address or its unique id.',
  }),
  scopes: Type.Optional(
    Type.Array(Type.String({ pattern: '^https://[A-Za-z0-9./_-]{1,200}$' }), {
      minItems: 1,
      maxItems: 32,
      uniqueItems: true,
      description: 'OAuth scopes of a token. Default: cloud-platform, which leaves the limits to the account’s roles.',
    }),
  ),
  delegates: Type.Optional(
    Type.Array(Type.String({ pattern: '^[a-z0-9-]{1,63}@[a-z0-9.-]{1,190}\\.gserviceaccount\\.com$' }), {
      minItems: 1,
      maxItems: 8,
      description: 'Service accounts between the base credential and the target account, in order of delegation.',
    }),
  ),
  maxTtlSeconds: Type.Optional(
    Type.Integer({
      minimum: ttl.cloudB.min,
      maximum: ttl.cloudB.max,
      description:
        'Longest lifetime of a token, in seconds. Default: 3600; more needs the account in the organization policy iam.allowServiceAccountCredentialLifetimeExtension.',
    }),
  ),
})

const MongoName = '^[A-Za-z0-9_-]{1,63}$'

const Mongodb = Strict({
  provider: Type.Literal('mongodb'),
  executor: InBroker,
  connection: Strict({
    host: Host,
    port: Port,
    database: Type.String({ pattern: MongoName, description: 'Database that a lease may use.' }),
    caCertificate: Type.Optional(CaCertificate),
  }),
  accessLevel: AccessLevel,
  roles: Type.Optional(
    Type.Array(
      Strict({
        role: Type.String({ pattern: '^[A-Za-z0-9_.-]{1,128}$', description: 'Name of a role.' }),
        db: Type.String({ pattern: MongoName, description: 'Database in which the role is defined.' }),
      }),
      { minItems: 1, maxItems: 32, description: 'Roles of an account at the level `custom`.' },
    ),
  ),
  authSource: Type.Optional(
    Type.String({ pattern: MongoName, description: 'Database in which accounts are created. Default: `admin`.' }),
  ),
  tls: Type.Optional(Tls),
  maxTtlSeconds: AllowedTtl(ttl.database.max),
})

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
