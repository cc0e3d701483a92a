import { Type } from 'typebox'
import { limits } from '../limits.ts'
import { blobPattern } from '../prefixes.ts'
import { Id, PublicKeyJwk, Strict } from '../schema.ts'
import { leaseConnectionsDefault, roleNamePattern } from './facts.ts'

// Fields that lease targets share. Every description is a sentence that clients show beside the field. The patterns
// exclude every character that could end a quoted name or literal, so a valid value is safe in a statement.

export const Host = Type.String({
  pattern: '^[A-Za-z0-9:][A-Za-z0-9._:-]{0,252}$',
  description: 'Host name or IP address of the target, as the server or provisioner that creates leases reaches it.',
})

export const Port = Type.Integer({
  minimum: 1,
  maximum: 65_535,
  description: 'TCP port on which the target listens.',
})

const Database = Type.String({
  pattern: '^[A-Za-z0-9_][A-Za-z0-9_$.-]{0,62}$',
  description: 'Database that a lease may use.',
})

export const Tls = Type.Union([Type.Literal('disable'), Type.Literal('require'), Type.Literal('verify-full')], {
  description:
    'Encryption of the connection. `verify-full` encrypts, and checks the certificate and its name. `require` encrypts without this check. `disable` sends everything unencrypted. Default: `verify-full`, or `disable` if the host is the same machine.',
})

export const CaCertificate = Type.String({
  minLength: 1,
  maxLength: 65_536,
  pattern: '^-----BEGIN CERTIFICATE-----[A-Za-z0-9+/=\\s-]+$',
  description:
    'Certificates (PEM) of the authority that signed the target’s certificate. Needed only if the authority is not a public one.',
})

export const RoleName = Type.String({
  pattern: roleNamePattern,
  description: 'Name of the account that the lease creates. The target must not have an account of this name',
})

export const AccessLevel = Type.Union([Type.Literal('readonly'), Type.Literal('readwrite'), Type.Literal('custom')], {
  description:
    'What a lease may do: `readonly` reads data, `readwrite` reads and writes data, and `custom` does what your own statements grant. Only `custom` can change the structure of a database.',
})

export const Executor = Type.Union([Type.Literal('in_broker'), Type.Literal('provisioner')], {
  description:
    'Program that signs in to the target: this server (`in_broker`), or a provisioner that runs in your own network (`provisioner`).',
})

export const ProvisionerTokenId = Type.Optional({
  ...Id('serviceToken'),
  description: 'Service token of the provisioner. Needed only if the executor is `provisioner`.',
})

/** Text with the placeholders of `templates.ts`. */
const Statement = Type.String({ minLength: 1, maxLength: 4000, pattern: '^[^\\u0000]+$' })

export const CreateStatements = Type.Optional(
  Type.Array(Statement, {
    minItems: 1,
    maxItems: 20,
    description:
      'Statements that create the account at the level `custom`, in order. They can contain the placeholders {{roleName}}, {{verifier}}, {{expiresAt}}, {{database}}, {{schema}} and {{userHost}}.',
  }),
)

export const RevokeStatements = Type.Optional(
  Type.Array(Statement, {
    maxItems: 20,
    description:
      'Statements at the level `custom` that undo what the create statements made besides the account. They run before the account is removed.',
  }),
)

export const AllowedTtl = (max: number) =>
  Type.Optional(
    Type.Integer({
      minimum: 60,
      maximum: max,
      description: 'Longest lifetime of a lease on this target, in seconds.',
    }),
  )

export const MaxConnections = Type.Optional(
  Type.Integer({
    minimum: 1,
    maximum: 10_000,
    description: `Number of connections that a lease may have open at the same time. Default: ${leaseConnectionsDefault}.`,
  }),
)

export const TargetId = Id('leaseTarget')
export const RecipientPublicKey = PublicKeyJwk

export const TtlSeconds = ({ min, max }: { min: number; max: number }) =>
  Type.Integer({ minimum: min, maximum: max, description: 'Lifetime of the lease in seconds.' })

/** If the admin credential is a connection string, it must name this host, port and database. */
export const SqlConnection = Strict({
  host: Host,
  port: Port,
  database: Database,
  tls: Type.Optional(Tls),
  caCertificate: Type.Optional(CaCertificate),
  allowCleartextPassword: Type.Optional(
    Type.Boolean({
      description:
        'Allows the target to ask for the password in plain text over a connection whose certificate is not verified. An attacker on the network can then read the password. Default: false.',
    }),
  ),
})

/** A credential of a lease. Only the recipient’s private key decrypts it. */
export const WrappedCredential = Type.String({
  maxLength: limits.wrappedCredentialCharacters,
  pattern: blobPattern('wd1'),
  description: 'The credential of the lease. The lease executor encrypts it with the public key of the recipient',
})
