import { createHash } from 'node:crypto'
import pg from 'pg'
import { ProviderError } from '../provider-error.ts'
import type { LeaseTarget } from './provider.ts'

type Config = LeaseTarget<'postgres'>['config']
type Level = 'readonly' | 'readwrite'

const { escapeIdentifier: identifier } = pg

const privileges = {
  readonly: { tables: ['SELECT'], sequences: ['SELECT'] },
  readwrite: { tables: ['SELECT', 'INSERT', 'UPDATE', 'DELETE'], sequences: ['USAGE', 'SELECT', 'UPDATE'] },
} as const satisfies Record<Level, unknown>

/**
 * Returns the group role for the leases of a level. It is created when first needed, and kept. Grants to each lease
 * instead would fill the access list of every table: about 2,440 entries fit, and then every further grant fails
 * (PostgreSQL 15, "row is too big"). Each admin account has its own group, because only the grantor can revoke a grant.
 */
export async function groupRole(client: pg.Client, config: Config, level: Level, admin: string): Promise<string> {
  const { schema } = config
  const key = JSON.stringify([admin, config.connection.database, schema])
  const group = `skerry_${level}_${createHash('sha256').update(key).digest('hex').slice(0, 16)}`
  if ((await roleExists(client, group)) && (await ungranted(client, group, schema, level)).length === 0) return group
  await setUp(client, group, config, level)
  return group
}

/** Reads the table, because `to_regrole` may answer from a cache that lacks the latest commits of other sessions. */
export const roleExists = async (client: pg.Client, role: string): Promise<boolean> =>
  (await client.query('SELECT FROM pg_catalog.pg_roles WHERE rolname OPERATOR(pg_catalog.=) $1', [role])).rowCount === 1

/**
 * Makes other sessions that create the same role wait for the end of this transaction, for at most `lock_timeout`. It
 * creates another role and never commits it, because PostgreSQL makes a second transaction wait that creates the same
 * name. An advisory lock would not do: every holder of a lease could take it and block all other leases.
 */
export async function lockRole(client: pg.Client, role: string): Promise<void> {
  const lock = identifier(`${role}_lock`)
  await client.query(`CREATE ROLE ${lock} NOLOGIN; DROP ROLE ${lock}`)
}

interface Relation {
  name: string
  sequence: boolean
}

/** Finds the tables, views and sequences on which the group lacks a right that the admin account can grant. */
async function ungranted(client: pg.Client, group: string, schema: string, level: Level): Promise<Relation[]> {
  const { tables, sequences } = privileges[level]
  const { rows } = await client.query(
    `SELECT pg_catalog.format('%I.%I', n.nspname, c.relname) AS name, c.relkind OPERATOR(pg_catalog.=) 'S' AS sequence
     FROM pg_catalog.pg_namespace n JOIN pg_catalog.pg_class c ON c.relnamespace OPERATOR(pg_catalog.=) n.oid,
       pg_catalog.pg_roles g
     WHERE n.nspname OPERATOR(pg_catalog.=) $1 AND g.rolname OPERATOR(pg_catalog.=) $2
       AND c.relkind OPERATOR(pg_catalog.=) ANY ($5::pg_catalog."char"[]) AND pg_catalog.pg_has_role(c.relowner, 'USAGE')
       AND CASE WHEN c.relkind OPERATOR(pg_catalog.=) 'S'
         THEN EXISTS (SELECT FROM pg_catalog.unnest($4::pg_catalog.text[]) p
           WHERE NOT pg_catalog.has_sequence_privilege(g.oid, c.oid, p))
         ELSE EXISTS (SELECT FROM pg_catalog.unnest($3::pg_catalog.text[]) p
           WHERE NOT pg_catalog.has_table_privilege(g.oid, c.oid, p)) END`,
    [schema, group, tables, sequences, ['r', 'p', 'v', 'm', 'f', 'S']],
  )
  return rows
}

/**
 * Creates the group if it is missing, and grants the rights that it lacks, also on tables newer than the last lease.
 */
async function setUp(client: pg.Client, group: string, config: Config, level: Level): Promise<void> {
  const [role, schema] = [identifier(group), identifier(config.schema)]
  const { tables, sequences } = privileges[level]
  await client.query('BEGIN')
  try {
    // Two leases at once would both create the role, or update the same catalog row.
    await lockRole(client, group)
    if (!(await roleExists(client, group))) await client.query(`CREATE ROLE ${role} NOLOGIN`)
    await grantEntrance(client, group, config)
    for (const { name, sequence } of await ungranted(client, group, config.schema, level)) {
      const what = sequence ? `${sequences.join(', ')} ON SEQUENCE` : `${tables.join(', ')} ON TABLE`
      await client.query(`GRANT ${what} ${name} TO ${role}`)
    }
    for (const owner of await owners(client, config.schema)) {
      const forOwner = `ALTER DEFAULT PRIVILEGES FOR ROLE ${identifier(owner)} IN SCHEMA ${schema} GRANT`
      await client.query(`${forOwner} ${tables.join(', ')} ON TABLES TO ${role};
        ${forOwner} ${sequences.join(', ')} ON SEQUENCES TO ${role}`)
    }
    await client.query('COMMIT')
  } catch (error) {
    await client.query('ROLLBACK').catch(() => {})
    throw error
  }
}

/**
 * Grants CONNECT and USAGE if the group lacks them. PostgreSQL only warns about a grant without effect, so both are
 * checked.
 */
async function grantEntrance(client: pg.Client, group: string, config: Config): Promise<void> {
  const { schema, connection } = config
  const may = async () => {
    const { rows } = await client.query(
      `SELECT pg_catalog.has_database_privilege($1, pg_catalog.current_database(), 'CONNECT') AS connect, n.oid AS schema,
         pg_catalog.has_schema_privilege($1, n.oid, 'USAGE') AS usage
       FROM (SELECT) one LEFT JOIN pg_catalog.pg_namespace n ON n.nspname OPERATOR(pg_catalog.=) $2`,
      [group, schema],
    )
    return rows[0] as { connect: boolean; schema: number | null; usage: boolean }
  }
  const before = await may()
  if (before.schema === null) throw new ProviderError('missing', `there is no schema ${schema} in the database`)
  const role = identifier(group)
  if (!before.connect) await client.query(`GRANT CONNECT ON DATABASE ${identifier(connection.database)} TO ${role}`)
  if (!before.usage) await client.query(`GRANT USAGE ON SCHEMA ${identifier(schema)} TO ${role}`)
  const after = await may()
  if (!after.connect) throw new ProviderError('denied', 'the admin account may not grant CONNECT on the database')
  if (!after.usage) throw new ProviderError('denied', `the admin account may not grant USAGE on schema ${schema}`)
}

/** The roles whose new tables the group must be able to use. Default privileges apply to objects of one named role. */
async function owners(client: pg.Client, schema: string): Promise<string[]> {
  const { rows } = await client.query(
    `SELECT r.rolname AS name FROM pg_catalog.pg_roles r, pg_catalog.pg_namespace n
     WHERE n.nspname OPERATOR(pg_catalog.=) $1 AND pg_catalog.pg_has_role(r.oid, 'USAGE')
       AND NOT pg_catalog.starts_with(r.rolname::pg_catalog.text, 'pg_')
       AND (r.oid OPERATOR(pg_catalog.=) n.nspowner OR r.rolname OPERATOR(pg_catalog.=) current_user
         OR EXISTS (SELECT FROM pg_catalog.pg_class c WHERE c.relnamespace OPERATOR(pg_catalog.=) n.oid
           AND c.relowner OPERATOR(pg_catalog.=) r.oid))`,
    [schema],
  )
  return (rows as { name: string }[]).map(({ name }) => name)
}
