import { fillTemplate } from '@skerry/contract/lease-templates'
import type { Connection, RowDataPacket } from 'mysql2/promise'
import type { Outside } from '../outside.ts'
import { ProviderError } from '../provider-error.ts'
import { checkAccount, checkConfig, checkName, patience, verifierDigest } from './checks.ts'
import { type Admin, parseAdmin } from './connection-string.ts'
import { cannotCreateUser, connectMysqlAdmin, MysqlFailure, mysqlFailure, noSuchThread } from './mysql-client.ts'
import type {
  Issued,
  Lease,
  LeaseAccount,
  LeaseAccountRef,
  LeaseSession,
  LeaseTarget,
  TargetFacts,
} from './provider.ts'

type Config = LeaseTarget<'mysql'>['config']

const PLUGIN = 'mysql_native_password'

const privileges = {
  readonly: 'SELECT, SHOW VIEW',
  readwrite: 'SELECT, INSERT, UPDATE, DELETE, EXECUTE, SHOW VIEW, CREATE TEMPORARY TABLES',
} as const

export async function open(target: LeaseTarget<'mysql'>, outside: Outside): Promise<LeaseSession<'mysql'>> {
  const { config, credential } = target
  checkConfig(config)
  const { host, port, database } = config.connection
  const protocols = ['mysql:', 'mariadb:']
  const admin = parseAdmin(credential, { protocols, host, port, defaultPort: 3306, database })
  const connection = await connectMysqlAdmin(config.connection, admin, outside)
  return new MysqlSession(config, admin, connection, outside)
}

class MysqlSession implements LeaseSession<'mysql'> {
  private readonly config: Config
  private readonly admin: Admin
  private readonly connection: Connection
  private readonly outside: Outside

  constructor(config: Config, admin: Admin, connection: Connection, outside: Outside) {
    this.config = config
    this.admin = admin
    this.connection = connection
    this.outside = outside
  }

  async verify(): Promise<TargetFacts> {
    const [server] = await this.query(
      `SELECT VERSION() AS version, @@global.read_only AS replica,
         (SELECT plugin_status FROM information_schema.plugins WHERE plugin_name = '${PLUGIN}') AS plugin`,
    )
    const mariadb = /mariadb/i.test(server?.version)
    const number = /(?:5\.5\.5-)?(\d+\.\d+(?:\.\d+)?)/.exec(server?.version)?.[1] ?? ''
    const name = `${mariadb ? 'MariaDB' : 'MySQL'} ${number}`
    const problem = pluginProblem(mariadb, number, server?.plugin === 'ACTIVE')
    if (problem !== null) throw new ProviderError('unsupported', `${name}: ${problem}`)
    if (Number(server?.replica) === 1)
      throw new ProviderError('unsupported', `${name}: this server is read-only, a replica; name the primary`)
    await this.checkRights(mariadb)
    const notes: string[] = []
    const anonymous = await this.query(`SELECT Host AS host FROM mysql.user WHERE User = ''`)
    for (const { host } of anonymous)
      if (host !== '')
        notes.push(
          `The anonymous account ''@'${host}' comes before leases that sign in from ${host}, and they fail there: drop it.`,
        )
    return { server: name, notes }
  }

  /** A session that nobody may end, or an account that nobody may look for, would show itself only at the first revocation. */
  private async checkRights(mariadb: boolean): Promise<void> {
    const rows = await this.query(
      `SELECT privilege_type AS name FROM information_schema.user_privileges
       WHERE grantee = CONCAT('''', REPLACE(CURRENT_USER(), '@', '''@'''), '''')`,
    )
    const held = new Set(rows.map(({ name }) => String(name).replace('_', ' ')))
    const lacks = (...names: string[]) => !names.some((name) => held.has(name))
    if (lacks('CREATE USER')) throw new ProviderError('denied', 'the admin account lacks CREATE USER')
    if (lacks('PROCESS')) throw new ProviderError('denied', 'the admin account lacks PROCESS, which shows sessions')
    if (lacks('CONNECTION ADMIN', 'SUPER'))
      throw new ProviderError(
        'denied',
        `the admin account lacks ${mariadb ? 'CONNECTION ADMIN' : 'CONNECTION_ADMIN'}, which ends sessions`,
      )
    await this.query('SELECT User FROM mysql.user LIMIT 1')
  }

  async create(lease: Lease<'mysql'>): Promise<Issued<'mysql'>> {
    checkAccount('mysql', lease, this.admin.user)
    const exists = new ProviderError('exists', `an account ${lease.roleName} exists already`)
    // At any host: of two accounts of a name the server takes the one whose host is more specific.
    if ((await this.accounts(lease.roleName)).length > 0) throw exists
    const { config } = this
    try {
      if (config.accessLevel === 'custom') await this.createCustom(lease, config.createStatements ?? [])
      else {
        await this.query(
          `CREATE USER ${this.account(lease.roleName)} IDENTIFIED WITH ${PLUGIN} AS '${lease.verifier}' PASSWORD EXPIRE NEVER`,
          [lease.verifier],
        )
        await this.query(
          `GRANT ${privileges[config.accessLevel]} ON ${await this.grantedDatabase()} TO ${this.account(lease.roleName)}`,
        )
      }
    } catch (error) {
      if (error instanceof MysqlFailure && error.errno === cannotCreateUser) throw exists
      const digest = verifierDigest(lease.verifier)
      await this.undo({ id: lease.id, resourceRef: lease.roleName, verifierDigest: digest }, error).catch(() => {})
      throw error
    }
    const { host, port, database } = config.connection
    const expiresAt = lease.expiresAt.toISOString()
    return { resourceRef: lease.roleName, result: { host, port, database, username: lease.roleName, expiresAt } }
  }

  /**
   * Nothing here can be rolled back. What this lease did create has its verifier. A statement without an answer may still
   * wait for a lock, where it would be done as soon as that is free: it is ended first, from a connection that works.
   */
  private async undo(lease: LeaseAccountRef, error: unknown): Promise<void> {
    if (!isUnanswered(error)) return this.revoke(lease)
    const { config, admin, outside } = this
    const session = new MysqlSession(config, admin, await connectMysqlAdmin(config.connection, admin, outside), outside)
    try {
      await session.endThreads('statements that were given up', ({ Id }) => Id === this.connection.threadId)
      await session.revoke(lease)
    } finally {
      await session.close()
    }
  }

  private async createCustom(lease: Lease<'mysql'>, statements: readonly string[]): Promise<void> {
    const values = {
      ...this.values(lease.roleName),
      verifier: lease.verifier,
      expiresAt: lease.expiresAt.toISOString(),
    }
    for (const statement of statements) await this.query(fillTemplate(statement, values), [lease.verifier])
    const [account] = await this.accounts(lease.roleName)
    if (account?.digest !== verifierDigest(lease.verifier))
      throw new ProviderError('invalid', `createStatements: they did not create ${lease.roleName} with {{verifier}}`)
  }

  private values(roleName: string) {
    const { connection, userHost } = this.config
    return { roleName, verifier: '', expiresAt: '', database: connection.database, userHost }
  }

  /** LOCK first, or a client that reconnects is faster than the end of its sessions; DROP USER ends none of them. */
  async revoke({ resourceRef, verifierDigest: digest }: LeaseAccountRef): Promise<void> {
    checkName(resourceRef, this.admin.user)
    await this.endThreads(`statements of ${resourceRef}`, ({ Info }) => createsFrom(digest, Info))
    const accounts = await this.accounts(resourceRef)
    if (accounts.length === 0) return
    const own = accounts.find((account) => account.host === this.config.userHost && account.digest === digest)
    if (!own || digest === null)
      throw new ProviderError('foreign', `the account ${resourceRef} does not have this lease’s verifier`)
    const account = this.account(resourceRef)
    await this.query(`ALTER USER ${account} ACCOUNT LOCK`)
    await this.endThreads(`sessions of ${resourceRef}`, ({ User }) => User === resourceRef)
    for (const statement of this.config.revokeStatements ?? [])
      await this.query(fillTemplate(statement, this.values(resourceRef)))
    await this.query(`DROP USER IF EXISTS ${account}`)
  }

  private async endThreads(what: string, isOne: (thread: RowDataPacket) => boolean): Promise<void> {
    // A session that began before the lock may show itself only now, and a killed one takes a moment to end.
    for (let attempt = 0; attempt < 50; attempt++) {
      const threads = (await this.query('SHOW FULL PROCESSLIST')).filter(isOne)
      if (threads.length === 0) return
      for (const { Id } of threads)
        await this.query(`KILL CONNECTION ${Number(Id)}`).catch((error: unknown) => {
          if (!(error instanceof MysqlFailure && error.errno === noSuchThread)) throw error
        })
      await this.query('DO SLEEP(0.05)')
    }
    throw new ProviderError('failed', `${what} do not end`)
  }

  async list(): Promise<LeaseAccount[]> {
    const rows = await this.query(
      `SELECT User AS name, authentication_string AS verifier FROM mysql.user
       WHERE Host = '${this.config.userHost}' AND plugin = '${PLUGIN}' ORDER BY 1`,
    )
    // The server has no room for a mark of ours: what tells is the verifier, which nobody else knows.
    return rows.map(({ name, verifier }) => ({
      name: String(name),
      leaseId: null,
      verifierDigest: verifierDigest(String(verifier)),
    }))
  }

  async close(): Promise<void> {
    this.connection.destroy()
  }

  private async accounts(name: string): Promise<{ host: string; digest: string }[]> {
    const rows = await this.query(`SELECT Host AS host, authentication_string AS verifier FROM mysql.user
       WHERE User = '${name}'`)
    return rows.map(({ host, verifier }) => ({ host: String(host), digest: verifierDigest(String(verifier)) }))
  }

  /** Both parts have a grammar without quotes and backslashes. */
  private account(name: string): string {
    return `'${name}'@'${this.config.userHost}'`
  }

  /** In a grant `_` and `%` of a database’s name are wildcards, unless the server keeps partial revokes. */
  private async grantedDatabase(): Promise<string> {
    const { database } = this.config.connection
    const [partial] = await this.query(`SHOW GLOBAL VARIABLES LIKE 'partial_revokes'`)
    const literal = partial?.Value === 'ON' ? database : database.replace(/[_%]/g, '\\$&')
    return `\`${literal}\`.*`
  }

  private async query(sql: string, secrets: string[] = []): Promise<RowDataPacket[]> {
    try {
      const { answerMs } = patience(this.outside)
      const [rows] = await this.connection.query<RowDataPacket[]>({ sql, timeout: answerMs })
      return rows
    } catch (error) {
      // What comes after a statement without an answer would wait behind it.
      if (isUnanswered(error)) this.connection.destroy()
      throw mysqlFailure(error, [this.admin.password, ...secrets])
    }
  }
}

const isUnanswered = (error: unknown) => mysqlFailure(error, []).reason === 'unreachable'

/** Whether a statement that runs now would create the account: it holds the verifier, which nobody else has. */
const createsFrom = (digest: string | null, statement: unknown): boolean =>
  (String(statement ?? '').match(/\*[0-9A-F]{40}/g) ?? []).some((verifier) => verifierDigest(verifier) === digest)

/** Verifiers need the plugin that MariaDB has by default, MySQL 8.4 when told to, and MySQL 9 no more. */
function pluginProblem(mariadb: boolean, version: string, active: boolean): string | null {
  const [major = 0, minor = 0] = version.split('.').map(Number)
  if (mariadb && (major < 10 || (major === 10 && minor < 5))) return 'versions before 10.5 are not supported'
  if (!mariadb && major < 8) return 'versions before 8.0 are not supported'
  if (active) return null
  if (!mariadb && major >= 9)
    return `this version no longer has ${PLUGIN}, without which an account cannot be created from a verifier; use MySQL 8.0 or 8.4, or MariaDB`
  return `${PLUGIN} is not loaded; start the server with --mysql-native-password=ON`
}
