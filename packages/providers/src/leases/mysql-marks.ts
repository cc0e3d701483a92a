import { verifierDigest } from './checks.ts'

/** An account as the server stores it. */
export interface StoredAccount {
  /** In the spelling of the server, which writes names of hosts in lower case. */
  host: string
  digest: string
  /** The lease whose mark the account carries. */
  leaseId: string | null
  /** Whether the account has a limit of connections. */
  hasLimit: boolean
}

/**
 * The mark of a lease's account, which its holder cannot change: any account may change its own password, and so its
 * verifier. The statements hold the lease's id, which has a grammar of letters and digits.
 */
export interface Marks {
  /** Puts the mark on an account. Again is fine. */
  set(leaseId: string, account: string): string[]
  /** What `set` makes beside the account, where it makes something: a query that finds it, and a statement that removes it. */
  beside?: { find(leaseId: string): string; remove(leaseId: string): string }
  /** Selects `name`, `host`, `verifier`, `leaseId` and `connections` of the accounts of a name, or of all accounts with a mark. */
  find(name: string | null): string
}

/** A role without any right, named after the lease. Nobody can revoke it who may not administer roles. */
const mariadb: Marks = {
  set: (leaseId, account) => [`CREATE ROLE IF NOT EXISTS '${leaseId}'`, `GRANT '${leaseId}' TO ${account}`],
  beside: {
    find: (leaseId) => `SELECT 1 FROM mysql.user WHERE User = '${leaseId}' AND is_role = 'Y'`,
    remove: (leaseId) => `DROP ROLE IF EXISTS '${leaseId}'`,
  },
  // MariaDB enters the account that creates a role as its administrator.
  find: (
    name,
  ) => `SELECT u.User AS name, u.Host AS host, u.authentication_string AS verifier, m.Role AS leaseId, u.max_user_connections AS connections
    FROM mysql.user u LEFT JOIN mysql.roles_mapping m
      ON m.User = u.User AND m.Host = u.Host AND m.Role LIKE 'lse\\_%' AND m.Admin_option = 'N'
    WHERE ${name === null ? 'm.Role IS NOT NULL' : `u.User = '${name}'`} ORDER BY 1`,
}

/** An attribute of the account, which needs CREATE USER to be changed. */
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
