import { fillTemplate } from '@skerry/contract/lease-templates'
import pg from 'pg'
import type { Outside } from '../outside.ts'
import { ProviderError } from '../provider-error.ts'
import { checkAccount, checkConfig, checkName } from './checks.ts'
import { type Admin, parseAdmin } from './connection-string.ts'
import { connectPostgresAdmin, postgresFailure } from './postgres-client.ts'
import { groupRole } from './postgres-group.ts'
import type {
  Issued,
  Lease,
  LeaseAccount,
  LeaseAccountRef,
  LeaseSession,
  LeaseTarget,
  TargetFacts,
} from './provider.ts'

type Config = LeaseTarget<'postgres'>['config']

const { escapeIdentifier: identifier, escapeLiteral: literal } = pg

/** What is put on a role as its comment, in the statement that makes it: PostgreSQL keeps both or neither. */
const mark = (leaseId: string) => `skerry lease ${leaseId}`
const MARK = 'skerry lease '

export async function open(target: LeaseTarget<'postgres'>, outside: Outside): Promise<LeaseSession<'postgres'>> {
  const { config, credential } = target
  checkConfig(config)
  const { host, port, database } = config.connection
  const protocols = ['postgres:', 'postgresql:']
  const admin = parseAdmin(credential, { protocols, host, port, defaultPort: 5432, database })
  const client = await connectPostgresAdmin(config.connection, database, admin, outside)
  return new PostgresSession(config, admin, client, outside)
}

interface VerifyRow {
  version: string
  number: number
  replica: boolean
  creates: boolean
  schema: number | null
  foreign_tables: number
  open_schema: boolean
}

class PostgresSession implements LeaseSession<'postgres'> {
  private readonly config: Config
  private readonly admin: Admin
  private readonly client: pg.Client
  private readonly outside: Outside

  constructor(config: Config, admin: Admin, client: pg.Client, outside: Outside) {
    this.config = config
    this.admin = admin
    this.client = client
    this.outside = outside
  }

  async verify(): Promise<TargetFacts> {
    const { schema } = this.config
    const { rows } = await this.query(
      `SELECT current_setting('server_version') AS version, current_setting('server_version_num')::int AS number,
         pg_is_in_recovery() AS replica, r.rolcreaterole OR r.rolsuper AS creates, n.oid AS schema,
         (SELECT count(*)::int FROM pg_class c WHERE c.relnamespace = n.oid AND c.relkind IN ('r', 'p', 'v', 'm', 'f')
            AND NOT pg_has_role(c.relowner, 'USAGE')) AS foreign_tables,
         has_schema_privilege('public', n.oid, 'CREATE') AS open_schema
       FROM pg_roles r LEFT JOIN pg_namespace n ON n.nspname = $1 WHERE r.rolname = current_user`,
      [schema],
    )
    const facts = rows[0] as VerifyRow
    const unsupported = (why: string) => new ProviderError('unsupported', `PostgreSQL ${facts.version}: ${why}`)
    if (facts.number < 140_000) throw unsupported('versions before 14 are not supported')
    if (facts.replica) throw unsupported('this server is a replica, which cannot create roles; name the primary')
    if (facts.schema === null) throw new ProviderError('missing', `there is no schema ${schema} in the database`)
    if (!facts.creates) throw new ProviderError('denied', 'the admin account lacks CREATEROLE')
    const notes: string[] = []
    if (facts.foreign_tables > 0 && this.config.accessLevel !== 'custom')
      notes.push(
        `${facts.foreign_tables} tables or views of schema ${schema} belong to roles that the admin account is not a member of: leases cannot use them.`,
      )
    if (facts.open_schema)
      notes.push(
        `Everyone may create tables in schema ${schema}, leases too. To end that: REVOKE CREATE ON SCHEMA ${schema} FROM PUBLIC.`,
      )
    return { server: `PostgreSQL ${facts.version}`, notes }
  }

  async create(lease: Lease<'postgres'>): Promise<Issued<'postgres'>> {
    checkAccount('postgres', lease, this.admin.user)
    const { config } = this
    if (config.accessLevel === 'custom') await this.createCustom(lease, config.createStatements ?? [])
    else {
      const group = await groupRole(this.client, config, config.accessLevel, this.admin.user).catch((error) => {
        throw this.failure(error)
      })
      // Both in one message, which is one transaction: there is never a role without its mark.
      await this.query(
        `CREATE ROLE ${identifier(lease.roleName)} LOGIN INHERIT PASSWORD ${literal(lease.verifier)}
           VALID UNTIL ${literal(lease.expiresAt.toISOString())} IN ROLE ${identifier(group)};
         COMMENT ON ROLE ${identifier(lease.roleName)} IS ${literal(mark(lease.id))}`,
        undefined,
        [lease.verifier],
      )
    }
    const { host, port, database } = config.connection
    const expiresAt = lease.expiresAt.toISOString()
    return {
      resourceRef: lease.roleName,
      result: { host, port, database, username: lease.roleName, expiresAt },
    }
  }

  private async createCustom(lease: Lease<'postgres'>, statements: readonly string[]): Promise<void> {
    const role = identifier(lease.roleName)
    const exists = async () => (await this.query('SELECT FROM pg_roles WHERE rolname = $1', [lease.roleName])).rowCount
    // Statements may change a role as well as create one: that of somebody else is left alone.
    if (await exists()) throw new ProviderError('exists', `the role ${lease.roleName} exists already`)
    const run = (statement: string) => this.query(statement, undefined, [lease.verifier])
    await run('BEGIN')
    try {
      for (const statement of statements) await run(fillTemplate(statement, this.values(lease)))
      if (!(await exists())) throw new ProviderError('invalid', 'createStatements: they did not create {{roleName}}')
      await run(`ALTER ROLE ${role} VALID UNTIL ${literal(lease.expiresAt.toISOString())}`)
      await run(`COMMENT ON ROLE ${role} IS ${literal(mark(lease.id))}`)
      await run('COMMIT')
    } catch (error) {
      await this.client.query('ROLLBACK').catch(() => {})
      throw error
    }
  }

  private values(lease: Pick<Lease<'postgres'>, 'roleName'> & Partial<Lease<'postgres'>>) {
    const { connection, schema } = this.config
    const { roleName, verifier = '', expiresAt } = lease
    return { roleName, verifier, expiresAt: expiresAt?.toISOString() ?? '', database: connection.database, schema }
  }

  /**
   * The order that works. Without NOLOGIN first, a client that reconnects is faster than the end of its sessions; dropping a
   * role ends none of them; and a role that owns or was granted something in any database cannot be dropped.
   */
  async revoke({ id, resourceRef }: LeaseAccountRef): Promise<void> {
    checkName(resourceRef, this.admin.user)
    const found = await this.findRole(resourceRef)
    if (!found) return
    if (found.mark !== mark(id))
      throw new ProviderError('foreign', `the role ${resourceRef} was not created by this lease`)
    const role = identifier(resourceRef)
    // Who may create roles is not thereby a member of them, which ending sessions and taking over objects needs.
    const join = found.superuser
      ? ''
      : `GRANT ${role} TO CURRENT_USER${found.version >= 160_000 ? ' WITH INHERIT TRUE, SET TRUE' : ''};`
    await this.query(`${join} ALTER ROLE ${role} NOLOGIN`)
    await this.endSessions(found.oid, resourceRef)
    const values = this.values({ roleName: resourceRef })
    for (const statement of this.config.revokeStatements ?? []) await this.query(fillTemplate(statement, values))
    await this.dropOwned(found.oid, role)
    await this.query(`DROP ROLE IF EXISTS ${role}`)
  }

  private async findRole(name: string) {
    const { rows } = await this.query(
      `SELECT r.oid, shobj_description(r.oid, 'pg_authid') AS mark, me.rolsuper AS superuser,
         current_setting('server_version_num')::int AS version
       FROM pg_roles r, pg_roles me WHERE r.rolname = $1 AND me.rolname = current_user`,
      [name],
    )
    return rows[0] as { oid: number; mark: string | null; superuser: boolean; version: number } | undefined
  }

  private async endSessions(oid: number, name: string): Promise<void> {
    // A session that began before NOLOGIN may show itself only now.
    for (let attempt = 0; attempt < 5; attempt++) {
      const { rowCount } = await this.query(
        'SELECT pg_terminate_backend(pid, 2000) FROM pg_stat_activity WHERE usesysid = $1',
        [oid],
      )
      if (!rowCount) return
    }
    throw new ProviderError('failed', `sessions of ${name} do not end`)
  }

  private async dropOwned(oid: number, role: string): Promise<void> {
    const { rows } = await this.query(
      `SELECT DISTINCT coalesce(d.datname, current_database()) AS name FROM pg_shdepend s
         LEFT JOIN pg_database d ON d.oid = s.dbid
       WHERE s.refclassid = 'pg_authid'::regclass AND s.refobjid = $1`,
      [oid],
    )
    const statement = `REASSIGN OWNED BY ${role} TO CURRENT_USER; DROP OWNED BY ${role}`
    for (const { name } of rows as { name: string }[]) {
      if (name === this.config.connection.database) await this.query(statement)
      else await this.queryElsewhere(name, statement)
    }
  }

  /** What a role owns can be given away only from within the database that has it. */
  private async queryElsewhere(database: string, statement: string): Promise<void> {
    const client = await connectPostgresAdmin(this.config.connection, database, this.admin, this.outside)
    try {
      await client.query(statement)
    } catch (error) {
      throw postgresFailure(error, this.secrets())
    } finally {
      await client.end()
    }
  }

  async list(): Promise<LeaseAccount[]> {
    const { rows } = await this.query(
      `SELECT r.rolname AS name, d.description AS mark FROM pg_roles r
         JOIN pg_shdescription d ON d.objoid = r.oid AND d.classoid = 'pg_authid'::regclass
       WHERE starts_with(d.description, $1) ORDER BY 1`,
      [MARK],
    )
    return (rows as { name: string; mark: string }[]).map(({ name, mark }) => ({
      name,
      leaseId: mark.slice(MARK.length),
      verifierDigest: null,
    }))
  }

  async close(): Promise<void> {
    await this.client.end()
  }

  private secrets(): string[] {
    return [this.admin.password]
  }

  private async query(text: string, values?: unknown[], secrets: string[] = []): Promise<pg.QueryResult> {
    try {
      return await this.client.query(values === undefined ? { text } : { text, values })
    } catch (error) {
      throw this.failure(error, secrets)
    }
  }

  private failure(error: unknown, secrets: string[] = []): ProviderError {
    const failure = postgresFailure(error, [...this.secrets(), ...secrets])
    // What comes after a statement without an answer would wait behind it.
    if (failure.reason === 'unreachable') void this.client.end().catch(() => {})
    return failure
  }
}
