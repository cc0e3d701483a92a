import { leaseConnectionsDefault } from '@skerry/contract/leases/facts'
import { fillTemplate } from '@skerry/contract/leases/templates'
import pg from 'pg'
import type { Outbound } from '../outbound.ts'
import { ProviderError } from '../provider-error.ts'
import { checkAccount, checkConfig, checkName } from './checks.ts'
import { type Admin, parseAdmin } from './connection-string.ts'
import { CATALOG_ONLY, connectPostgresAdmin, postgresFailure } from './postgres-client.ts'
import { groupRole, roleExists } from './postgres-group.ts'
import { type Moved, moveObjects } from './postgres-objects.ts'
import { type FoundRole, joinOf, shutOut } from './postgres-sessions.ts'
import type {
  Issued,
  Lease,
  LeaseAccount,
  LeaseAccountRef,
  LeaseSession,
  LeaseTarget,
  Removal,
  TargetFacts,
} from './provider.ts'
import { nothingLeft, removalOf } from './removal.ts'

type Config = LeaseTarget<'postgres'>['config']

const { escapeIdentifier: identifier, escapeLiteral: literal } = pg

/** The comment that marks a role. The message that creates the role sets it, so PostgreSQL stores both or neither. */
const mark = (leaseId: string) => `skerry lease ${leaseId}`
const MARK = 'skerry lease '

export async function open(target: LeaseTarget<'postgres'>, outbound: Outbound): Promise<LeaseSession<'postgres'>> {
  const { config, credential } = target
  checkConfig(config)
  const { host, port, database } = config.connection
  const protocols = ['postgres:', 'postgresql:']
  const admin = parseAdmin(credential, { protocols, host, port, defaultPort: 5432, database })
  const client = await connectPostgresAdmin(config.connection, database, admin, outbound)
  return new PostgresSession(config, admin, client, outbound)
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
  private readonly outbound: Outbound

  constructor(config: Config, admin: Admin, client: pg.Client, outbound: Outbound) {
    this.config = config
    this.admin = admin
    this.client = client
    this.outbound = outbound
  }

  async verify(): Promise<TargetFacts> {
    const { schema } = this.config
    const { rows } = await this.query(
      `SELECT pg_catalog.current_setting('server_version') AS version,
         pg_catalog.current_setting('server_version_num')::pg_catalog.int4 AS number,
         pg_catalog.pg_is_in_recovery() AS replica, r.rolcreaterole OR r.rolsuper AS creates, n.oid AS schema,
         (SELECT pg_catalog.count(*)::pg_catalog.int4 FROM pg_catalog.pg_class c
            WHERE c.relnamespace OPERATOR(pg_catalog.=) n.oid AND c.relkind OPERATOR(pg_catalog.=) ANY ($2::pg_catalog."char"[])
            AND NOT pg_catalog.pg_has_role(c.relowner, 'USAGE')) AS foreign_tables,
         pg_catalog.has_schema_privilege('public', n.oid, 'CREATE') AS open_schema
       FROM pg_catalog.pg_roles r LEFT JOIN pg_catalog.pg_namespace n ON n.nspname OPERATOR(pg_catalog.=) $1
       WHERE r.rolname OPERATOR(pg_catalog.=) current_user`,
      [schema, ['r', 'p', 'v', 'm', 'f']],
    )
    const facts = rows[0] as VerifyRow
    const unsupported = (why: string) => new ProviderError('unsupported', `PostgreSQL ${facts.version}: ${why}`)
    if (facts.number < 140_000) throw unsupported('versions before 14 are not supported')
    if (facts.replica) throw unsupported('this server is a replica, which cannot create roles; use the primary')
    if (facts.schema === null) throw new ProviderError('missing', `there is no schema ${schema} in the database`)
    if (!facts.creates) throw new ProviderError('denied', 'the admin account lacks CREATEROLE')
    const notes: string[] = []
    if (facts.foreign_tables > 0 && this.config.accessLevel !== 'custom')
      notes.push(
        `Leases cannot use ${facts.foreign_tables} tables or views of schema ${schema}, because the admin account is not a member of the roles that own them.`,
      )
    if (facts.open_schema)
      notes.push(
        `Every account, also of a lease, can create tables in schema ${schema}. To prevent that: REVOKE CREATE ON SCHEMA ${schema} FROM PUBLIC.`,
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
      // Both statements in one message are one transaction, so a role never exists without its mark.
      await this.query(
        `CREATE ROLE ${identifier(lease.roleName)} LOGIN INHERIT PASSWORD ${literal(lease.verifier)}
           VALID UNTIL ${literal(lease.expiresAt.toISOString())} CONNECTION LIMIT ${this.maxConnections} IN ROLE ${identifier(group)};
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
    const exists = () => roleExists(this.client, lease.roleName)
    // The statements may also change an existing role. A role of somebody else must stay unchanged.
    if (await exists()) throw new ProviderError('exists', `the role ${lease.roleName} already exists`)
    const run = (statement: string) => this.query(statement, undefined, [lease.verifier])
    await run('BEGIN')
    try {
      for (const statement of statements) await run(fillTemplate(statement, this.values(lease)))
      await run(CATALOG_ONLY)
      const { hasLimit } = await this.checkCreated(lease.roleName)
      if (!hasLimit) await run(`ALTER ROLE ${role} CONNECTION LIMIT ${this.maxConnections}`)
      await run(`ALTER ROLE ${role} VALID UNTIL ${literal(lease.expiresAt.toISOString())}`)
      await run(`COMMENT ON ROLE ${role} IS ${literal(mark(lease.id))}`)
      await run('COMMIT')
    } catch (error) {
      await this.client.query('ROLLBACK').catch(() => {})
      throw error
    }
  }

  /**
   * Refuses a lease that can create roles: it could make an account that outlives it, or remove its own mark.
   *
   * @returns whether the statements set a connection limit for the role, which is then kept
   */
  private async checkCreated(name: string): Promise<{ hasLimit: boolean }> {
    const { rows } = await this.query(
      `SELECT EXISTS (SELECT FROM pg_catalog.pg_roles r WHERE (r.rolcreaterole OR r.rolsuper)
         AND pg_catalog.pg_has_role(lease.oid, r.oid, 'MEMBER')) AS creates,
         lease.rolconnlimit OPERATOR(pg_catalog.>=) 0 AS "hasLimit"
       FROM pg_catalog.pg_roles lease WHERE lease.rolname OPERATOR(pg_catalog.=) $1`,
      [name],
    )
    if (!rows[0]) throw new ProviderError('invalid', 'createStatements: must create the role {{roleName}}, but did not')
    if (rows[0].creates)
      throw new ProviderError('invalid', 'createStatements: must not give the role CREATEROLE or SUPERUSER')
    return { hasLimit: rows[0].hasLimit }
  }

  /** Keeps one lease from using all connections of the target. Otherwise the admin could not connect to end it. */
  private get maxConnections(): number {
    return this.config.maxConnections ?? leaseConnectionsDefault
  }

  private values(lease: Pick<Lease<'postgres'>, 'roleName'> & Partial<Lease<'postgres'>>) {
    const { connection, schema } = this.config
    const { roleName, verifier = '', expiresAt } = lease
    return { roleName, verifier, expiresAt: expiresAt?.toISOString() ?? '', database: connection.database, schema }
  }

  /**
   * Ends sessions and moves objects first. Dropping a role ends none of its sessions, and PostgreSQL does not drop a
   * role that owns objects or has grants in any database.
   */
  async revoke({ id, resourceRef }: LeaseAccountRef): Promise<Removal> {
    checkName(resourceRef, this.admin.user)
    const found = await this.findRole(resourceRef)
    if (!found) return nothingLeft
    if (found.mark !== mark(id))
      throw new ProviderError('foreign', `the role ${resourceRef} does not belong to this lease`)
    await shutOut(this.client, found, () => this.connect(this.config.connection.database)).catch((error) => {
      throw this.failure(error)
    })
    const values = this.values({ roleName: resourceRef })
    for (const statement of this.config.revokeStatements ?? []) await this.query(fillTemplate(statement, values))
    await this.query(CATALOG_ONLY)
    return await this.remove(found)
  }

  /** Reports the moved objects even if the role cannot be dropped, because nobody could name them later. */
  private async remove(found: FoundRole): Promise<Removal> {
    const { oid, name } = found
    const [dropped, reassigned]: [string[], string[]] = [[], []]
    try {
      const own = this.config.connection.database
      const databases = await this.databasesOf(oid)
      // The target's own database comes last: the role is dropped in the transaction that moves its objects there.
      const last = (database: string) => Number(database === own)
      for (const database of databases.toSorted((a, b) => last(a) - last(b))) {
        const owner = { oid, name, admin: this.admin.user, join: joinOf(found) }
        const prefix = database === own ? '' : `${database}: `
        const moved: Moved = {
          dropped: (label) => dropped.push(`${prefix}${label}`),
          reassigned: (label) => reassigned.push(`${prefix}${label}`),
        }
        await this.onDatabase(database, (client) => moveObjects(client, owner, moved, { dropsRole: database === own }))
      }
      // A role without objects in the target's own database was not dropped above.
      await this.query(`DROP ROLE IF EXISTS ${identifier(name)}`)
      return removalOf(dropped, reassigned, null)
    } catch (error) {
      const failure = this.failure(error)
      if (dropped.length + reassigned.length === 0) throw failure
      return removalOf(dropped, reassigned, failure.message)
    }
  }

  private async findRole(name: string) {
    const { rows } = await this.query(
      `SELECT r.oid, r.rolname AS name, pg_catalog.shobj_description(r.oid, 'pg_authid') AS mark, me.rolsuper AS superuser,
         pg_catalog.current_setting('server_version_num')::pg_catalog.int4 AS version
       FROM pg_catalog.pg_roles r, pg_catalog.pg_roles me
       WHERE r.rolname OPERATOR(pg_catalog.=) $1 AND me.rolname OPERATOR(pg_catalog.=) current_user`,
      [name],
    )
    return rows[0] as FoundRole | undefined
  }

  private async databasesOf(oid: number): Promise<string[]> {
    const { rows } = await this.query(
      `SELECT DISTINCT coalesce(d.datname, pg_catalog.current_database()) AS name FROM pg_catalog.pg_shdepend s
         LEFT JOIN pg_catalog.pg_database d ON d.oid OPERATOR(pg_catalog.=) s.dbid
       WHERE s.refclassid OPERATOR(pg_catalog.=) 'pg_catalog.pg_authid'::pg_catalog.regclass
         AND s.refobjid OPERATOR(pg_catalog.=) $1`,
      [oid],
    )
    return rows.map(({ name }) => String(name))
  }

  private connect(database: string): Promise<pg.Client> {
    return connectPostgresAdmin(this.config.connection, database, this.admin, this.outbound)
  }

  /** Runs `use` on a database. Objects of a role can be reassigned only from within their own database. */
  private async onDatabase<T>(database: string, use: (client: pg.Client) => Promise<T>): Promise<T> {
    if (database === this.config.connection.database) return await use(this.client)
    const client = await this.connect(database)
    try {
      return await use(client)
    } finally {
      await client.end()
    }
  }

  async list(): Promise<LeaseAccount[]> {
    const { rows } = await this.query(
      `SELECT r.rolname AS name, d.description AS mark FROM pg_catalog.pg_roles r
         JOIN pg_catalog.pg_shdescription d ON d.objoid OPERATOR(pg_catalog.=) r.oid
           AND d.classoid OPERATOR(pg_catalog.=) 'pg_catalog.pg_authid'::pg_catalog.regclass
       WHERE pg_catalog.starts_with(d.description, $1) ORDER BY 1`,
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
    // Later statements would wait behind a statement without an answer.
    if (failure.reason === 'unreachable') void this.client.end().catch(() => {})
    return failure
  }
}
