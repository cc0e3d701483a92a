// Facts about every lease provider without its schemas, for clients. Config, mint and answer are in providers.ts.

/** Lifetimes that a mint may ask for. A target’s `maxTtlSeconds` narrows them. */
export const leaseTtlSeconds = {
  database: { min: 60, max: 86_400 },
  ssh: { min: 60, max: 43_200 },
  cloudA: { min: 900, max: 43_200 },
  cloudB: { min: 60, max: 43_200 },
} as const

/**
 * How many connections a lease may have open at a time on PostgreSQL, MySQL and MariaDB, unless its target sets another
 * limit.
 */
export const leaseConnectionsDefault = 20

/** Clouds grant no more by default. A target that allows more proves it when it is registered. */
export const cloudTtlDefaultMaxSeconds = 3600

/** AWS and Google Cloud issue credentials for at most one hour unless they are configured to allow more. */
export const isCloud = (provider: LeaseTag): boolean => provider === 'cloud-a' || provider === 'cloud-b'

/** A lease’s account name. No database needs quoting for it, and it fits the shortest limit (32, MySQL). */
export const roleNamePattern = '^[a-z_][a-z0-9_]{0,30}$'

/**
 * A lease’s account name on MongoDB, where callers do not choose it. It is derived from the lease, so that an account
 * left by a crash can be found.
 */
export const mongodbUserName = (leaseId: string) => `skerry_${leaseId}`

interface Facts {
  ttlSeconds: { min: number; max: number }
  /** Describes the admin credential to the person who enters it. */
  adminSecret: string
  /** False if the target cannot revoke a credential: a revocation then changes the ledger only. */
  revocable: boolean
}

/** Every lease provider, by tag. */
export const leaseFacts = {
  postgres: {
    ttlSeconds: leaseTtlSeconds.database,
    adminSecret:
      'Connection string (postgres://user:password@host:port/database) of an account with CREATEROLE that may grant on the schema. Make one for Skerry alone.',
    revocable: true,
  },
  mysql: {
    ttlSeconds: leaseTtlSeconds.database,
    adminSecret:
      'Connection string (mysql://user:password@host:port/database) of an account with CREATE USER, CONNECTION ADMIN, SELECT on mysql.* and the leases’ rights with GRANT OPTION.',
    revocable: true,
  },
  redis: {
    ttlSeconds: leaseTtlSeconds.database,
    adminSecret:
      'Connection string (redis://user:password@host:port/db) of an account that may run ACL, INFO and CONFIG GET.',
    revocable: true,
  },
  ssh: {
    ttlSeconds: leaseTtlSeconds.ssh,
    adminSecret: 'Private key of the certificate authority (OpenSSH or PEM), without a passphrase.',
    revocable: false,
  },
  'cloud-a': {
    ttlSeconds: leaseTtlSeconds.cloudA,
    adminSecret: 'Access key of an IAM user that may assume the role, as JSON: { "accessKeyId", "secretAccessKey" }.',
    revocable: false,
  },
  'cloud-b': {
    ttlSeconds: leaseTtlSeconds.cloudB,
    adminSecret: 'Key (JSON) of a service account that may create tokens for the target account.',
    revocable: false,
  },
  mongodb: {
    ttlSeconds: leaseTtlSeconds.database,
    adminSecret:
      'Connection string (mongodb://user:password@host:port/database) of an account with userAdmin on the accounts’ database and on the databases of their roles.',
    revocable: true,
  },
} satisfies Record<string, Facts>

/**
 * A kind of lease target, as the API names it. The tags of AWS and Google Cloud are not the names of these providers.
 */
export type LeaseTag = keyof typeof leaseFacts
