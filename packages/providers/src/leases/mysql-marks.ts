import { verifierDigest } from './checks.ts'

/** An account as the server stores it. */
export interface StoredAccount {
  /** Spelled as the server stores it, in lower case. */
  host: string
  digest: string
  /** The lease whose mark the account carries. Null if it carries none. */
  leaseId: string | null
  /** Whether the account has a connection limit. */
  hasLimit: boolean
}

/**
 * The mark of a lease's account. The holder cannot change it, but can change its own password and so its verifier. The
 * statements contain the lease's id, whose grammar allows no quotes.
 */
export interface Marks {
  /** The statements that put the mark on an account. Running them again is harmless. */
  set(leaseId: string, account: string): string[]
  /** Finds and removes the object that `set` creates in addition to the account, if it creates one. */
  beside?: { find(leaseId: string): string; remove(leaseId: string): string }
  /**
   * Selects `name`, `host`, `verifier`, `leaseId` and `connections` of the accounts with a name. Null selects all
   * accounts with a mark.
   */
  find(name: string | null): string
}

/** The mark is a role without rights, named after the lease. Only an account that administers roles can revoke it. */
const mariadb: Marks = {
  set: (leaseId, account) => [`CREATE ROLE IF NOT EXISTS '${leaseId}'`, `GRANT '${leaseId}' TO ${account}`],
  beside: {
    find: (leaseId) => `SELECT 1 FROM mysql.user WHERE User = '${leaseId}' AND is_role = 'Y'`,
    remove: (leaseId) => `DROP ROLE IF EXISTS '${leaseId}'`,
  },
  // MariaDB makes the account that creates a role its administrator. That row is not a mark.
  find: (
    name,
  ) => `SELECT u.User AS name, u.Host AS host, u.authentication_string AS verifier, m.Role AS leaseId, u.max_user_connections AS connections
    FROM mysql.user u LEFT JOIN mysql.roles_mapping m
      ON m.User = u.User AND m.Host = u.Host AND m.Role LIKE 'lse\\_%' AND m.Admin_option = 'N'
    WHERE ${name === null ? 'm.Role IS NOT NULL' : `u.User = '${name}'`} ORDER BY 1`,
}

/** The mark is an attribute of the account. Changing an attribute needs CREATE USER. */
const mysql: Marks = {
  set: (leaseId, account) => [`ALTER USER ${account} ATTRIBUTE '{"skerryLease":"${leaseId}"}'`],
  find: (name) => `SELECT User AS name, Host AS host, authentication_string AS verifier,
      JSON_UNQUOTE(JSON_EXTRACT(User_attributes, '$.metadata.skerryLease')) AS leaseId, max_user_connections AS connections
    FROM mysql.user WHERE ${
      name === null ? `JSON_EXTRACT(User_attributes, '$.metadata.skerryLease') IS NOT NULL` : `User = '${name}'`
    } ORDER BY 1`,
}

export const marksOf = (isMariadb: boolean): Marks => (isMariadb ? mariadb : mysql)

export const storedAccount = (row: Readonly<Record<string, unknown>>): StoredAccount => ({
  host: String(row.host),
  digest: verifierDigest(String(row.verifier)),
  leaseId: row.leaseId === null ? null : String(row.leaseId),
  hasLimit: Number(row.connections) > 0,
})
