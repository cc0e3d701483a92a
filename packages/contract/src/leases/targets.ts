import { Type } from 'typebox'
import { Strict } from '../schema.ts'
import { leaseTtlSeconds } from './facts.ts'
import {
  AccessLevel,
  AllowedTtl,
  CaCertificate,
  CreateStatements,
  Executor,
  Host,
  MaxConnections,
  Port,
  ProvisionerTokenId,
  RevokeStatements,
  SqlConnection,
  Tls,
} from './fields.ts'

// The config of a lease target, for each provider. Every description is a sentence that clients show beside the field.

const InBroker = Type.Literal('in_broker', { description: 'This server signs in to the target.' })

export const Postgres = Strict({
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
  maxTtlSeconds: AllowedTtl(leaseTtlSeconds.database.max),
  maxConnections: MaxConnections,
  provisionerTokenId: ProvisionerTokenId,
})

export const Mysql = Strict({
  provider: Type.Literal('mysql'),
  executor: Executor,
  connection: SqlConnection,
  accessLevel: AccessLevel,
  userHost: Type.String({
    pattern: '^[A-Za-z0-9_.:%/-]{1,60}$',
    description:
      'Hosts from which a lease may sign in, as in MySQL’s account names: `%` for any host, or for example `10.0.%`.',
  }),
  createStatements: CreateStatements,
  revokeStatements: RevokeStatements,
  maxTtlSeconds: AllowedTtl(leaseTtlSeconds.database.max),
  maxConnections: MaxConnections,
  provisionerTokenId: ProvisionerTokenId,
})

export const Redis = Strict({
  provider: Type.Literal('redis'),
  executor: Executor,
  connection: Strict({
    host: Host,
    port: Port,
    db: Type.Optional(
      Type.Integer({
        minimum: 0,
        maximum: 65_535,
        description:
          'Logical database that clients select. In Redis, an account can also use the other logical databases.',
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
          'ACL rules of an account at the level `custom`, such as `~cache:*` and `+@read`, in order. They can contain the placeholder {{roleName}}.',
      },
    ),
  ),
  maxTtlSeconds: AllowedTtl(leaseTtlSeconds.database.max),
  provisionerTokenId: ProvisionerTokenId,
})

const sshExtensions = [
  'no-touch-required',
  'permit-X11-forwarding',
  'permit-agent-forwarding',
  'permit-port-forwarding',
  'permit-pty',
  'permit-user-rc',
] as const

/** A login name in a certificate. It has no character that OpenSSH would split or a shell would interpret. */
export const sshPrincipalPattern = '^[A-Za-z0-9_][A-Za-z0-9_.@-]{0,63}$'
export const Principals = (description: string) =>
  Type.Array(Type.String({ pattern: sshPrincipalPattern }), {
    minItems: 1,
    maxItems: 32,
    uniqueItems: true,
    description,
  })

export const SshPublicKey = (description: string) =>
  Type.String({
    maxLength: 4096,
    pattern: '^[a-z0-9@.-]+ [A-Za-z0-9+/]+={0,2}(?: [\\u0020-\\u007e]*)?$',
    description,
  })

export const Ssh = Strict({
  provider: Type.Literal('ssh'),
  executor: InBroker,
  caPublicKey: SshPublicKey('Public key of the certificate authority, as the hosts have it in TrustedUserCAKeys.'),
  allowedPrincipals: Type.Optional(
    Principals('Login names that a lease may ask for. Without it any name can be asked.'),
  ),
  extensions: Type.Optional(
    Type.Array(Type.Enum([...sshExtensions]), {
      uniqueItems: true,
      description: 'What a session may do besides running a command. Default: open a terminal (`permit-pty`).',
    }),
  ),
  forceCommand: Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: 1000,
      pattern: '^[\\u0020-\\u007e]+$',
      description:
        'The only command that a session can run. A session that asks for another command runs this command.',
    }),
  ),
  sourceAddresses: Type.Optional(
    Type.Array(Type.String({ pattern: '^[0-9a-fA-F.:]+(?:/[0-9]{1,3})?$' }), {
      minItems: 1,
      maxItems: 32,
      description: 'Addresses or networks (CIDR) from which a certificate can be used.',
    }),
  ),
  maxTtlSeconds: AllowedTtl(leaseTtlSeconds.ssh.max),
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

export const CloudA = Strict({
  provider: Type.Literal('cloud-a'),
  executor: InBroker,
  roleArn: Type.String({
    pattern: '^arn:aws[a-z-]*:iam::[0-9]{12}:role/[A-Za-z0-9+=,.@_/-]{1,512}$',
    description: 'ARN of the role that leases assume. Its trust policy must allow the base credential.',
  }),
  region: Type.String({
    pattern: '^[a-z]{2}(?:-[a-z]+){1,3}-[0-9]$',
    description: 'AWS region of the security token service that makes the credentials.',
  }),
  externalId: Type.Optional(
    Type.String({
      pattern: '^[A-Za-z0-9_+=,.@:/-]{2,1224}$',
      description: 'External id that the role’s trust policy requires.',
    }),
  ),
  sessionPolicy: Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: 2048,
      pattern: '^[\\u0009\\u000a\\u000d\\u0020-\\u00ff]+$',
      description:
        'Policy (JSON) that limits a lease further. A lease may do only what the role and this policy both allow.',
    }),
  ),
  maxTtlSeconds: Type.Optional(
    Type.Integer({
      minimum: leaseTtlSeconds.cloudA.min,
      maximum: leaseTtlSeconds.cloudA.max,
      description: 'Longest lifetime of a lease, in seconds: at most the role’s MaxSessionDuration. Default: 3600.',
    }),
  ),
})

export const CloudB = Strict({
  provider: Type.Literal('cloud-b'),
  executor: InBroker,
  serviceAccount: Type.String({
    pattern: '^(?:[a-z0-9-]{1,63}@[a-z0-9.-]{1,190}\\.gserviceaccount\\.com|[0-9]{15,25})$',
    description: 'Service account for which a lease gets an access token: its e-mail address or its unique id.',
  }),
  scopes: Type.Optional(
    Type.Array(Type.String({ pattern: '^https://[A-Za-z0-9./_-]{1,200}$' }), {
      minItems: 1,
      maxItems: 32,
      uniqueItems: true,
      description:
        'OAuth scopes of a token. Default: cloud-platform. With this scope, only the roles of the account limit the token.',
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
      minimum: leaseTtlSeconds.cloudB.min,
      maximum: leaseTtlSeconds.cloudB.max,
      description:
        'Longest lifetime of a token, in seconds. Default: 3600. For more, the organization policy iam.allowServiceAccountCredentialLifetimeExtension must list the account.',
    }),
  ),
})

const MongoName = '^[A-Za-z0-9_-]{1,63}$'

export const Mongodb = Strict({
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
  maxTtlSeconds: AllowedTtl(leaseTtlSeconds.database.max),
})
