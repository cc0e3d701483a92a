import { leaseConnectionsDefault } from '@skerry/contract/leases/facts'
import { fillTemplate } from '@skerry/contract/leases/templates'
import type { Connection, RowDataPacket } from 'mysql2/promise'
import type { Outbound } from '../outbound.ts'
import { ProviderError } from '../provider-error.ts'
import { checkAccount, checkConfig, checkLeaseId, checkName, verifierDigest, waitLimits } from './checks.ts'
import { type Admin, parseAdmin } from './connection-string.ts'
import { cannotCreateUser, connectMysqlAdmin, MysqlFailure, mysqlFailure, type Query } from './mysql-client.ts'
import { type Marks, marksOf, type StoredAccount, storedAccount } from './mysql-marks.ts'
import { type DefinedObject, definedBy, definedObject, dropStatement, labelOf } from './mysql-objects.ts'
import { isMariadb, nativePassword, verifyServer } from './mysql-server.ts'
import { endThreads, makesLease } from './mysql-threads.ts'
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

type Config = LeaseTarget<'mysql'>['config']

const privileges = {
  readonly: 'SELECT, SHOW VIEW',
  readwrite: 'SELECT, INSERT, UPDATE, DELETE, EXECUTE, SHOW VIEW, CREATE TEMPORARY TABLES',
} as const

export async function open(target: LeaseTarget<'mysql'>, outbound: Outbound): Promise<LeaseSession<'mysql'>> {
  const { config, credential } = target
  checkConfig(config)
  const { host, port, database } = config.connection
  const protocols = ['mysql:', 'mariadb:']
  const admin = parseAdmin(credential, { protocols, host, port, defaultPort: 3306, database })
  const connection = await connectMysqlAdmin(config.connection, admin, outbound)
  return new MysqlSession(config, admin, connection, outbound)
}

class MysqlSession implements LeaseSession<'mysql'> {
  private readonly config: Config
  private readonly admin: Admin
  private readonly connection: Connection
  private readonly outbound: Outbound
  private foundMarks: Marks | undefined

  constructor(config: Config, admin: Admin, connection: Connection, outbound: Outbound) {
    this.config = config
    this.admin = admin
    this.connection = connection
    this.outbound = outbound
  }

  verify(): Promise<TargetFacts> {
    return verifyServer(this.query, this.config)
  }

  async create(lease: Lease<'mysql'>): Promise<Issued<'mysql'>> {
    checkAccount('mysql', lease, this.admin.user)
    checkLeaseId(lease.id)
    const { config } = this
    const { roleName } = lease
    await this.checkUnused(roleName)
    try {
      if (config.accessLevel === 'custom') await this.createCustom(lease, config.createStatements ?? [])
      else await this.createStandard(lease, privileges[config.accessLevel])
    } catch (error) {
      if (error instanceof MysqlFailure && error.errno === cannotCreateUser) throw existing(roleName)
      const digest = verifierDigest(lease.verifier)
      await this.undo({ id: lease.id, resourceRef: roleName, verifierDigest: digest }, error).catch(() => {})
      throw error
    }
    const { host, port, database } = config.connection
    const expiresAt = lease.expiresAt.toISOString()
    return { resourceRef: roleName, result: { host, port, database, username: roleName, expiresAt } }
  }

  /**
   * Checks the name at every host. If two accounts have one name, the server uses the one with the more specific host.
   */
  private async checkUnused(name: string): Promise<void> {
    if ((await this.accounts(name)).length > 0) throw existing(name)
    const [object] = await this.objectsOf(`${name}@${this.host}`, this.config.connection.database)
    if (object)
      throw new ProviderError('exists', `the ${labelOf(object)} would run with the rights of ${name}; drop it first`)
  }

  /**
   * The account stays locked until it carries its mark. Otherwise its holder could sign in and change the verifier
   * first.
   */
  private async createStandard({ id, roleName, verifier }: Lease<'mysql'>, rights: string): Promise<void> {
    const account = this.account(roleName)
    await this.query(
      `CREATE USER ${account} IDENTIFIED WITH ${nativePassword} AS '${verifier}'
         WITH MAX_USER_CONNECTIONS ${this.maxConnections} PASSWORD EXPIRE NEVER ACCOUNT LOCK`,
      [verifier],
    )
    await this.mark(id, roleName)
    await this.query(`GRANT ${rights} ON ${await this.grantedDatabase()} TO ${account}`)
    await this.query(`ALTER USER ${account} ACCOUNT UNLOCK`)
  }

  private async mark(leaseId: string, name: string): Promise<void> {
    for (const statement of (await this.marks()).set(leaseId, this.account(name))) await this.query(statement)
  }

  /**
   * Removes what a failed `create` left, because MySQL cannot roll it back. Accounts of this lease have its verifier. A
   * statement without an answer may still wait for a lock and run later, so it is ended first, from a new connection.
   */
  private async undo(lease: LeaseAccountRef, error: unknown): Promise<void> {
    if (!isUnanswered(error)) return void (await this.revoke(lease))
    const { config, admin, outbound } = this
    const session = new MysqlSession(
      config,
      admin,
      await connectMysqlAdmin(config.connection, admin, outbound),
      outbound,
    )
    try {
      const isGivenUp = ({ thread }: RowDataPacket) => thread === this.connection.threadId
      await endThreads(session.query, 'statements that timed out', admin.user, isGivenUp)
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
    const wrong = `createStatements: must create the account ${lease.roleName} with {{verifier}}, but did not`
    // No account had this name before, so this one belongs to the lease, whatever its verifier is now.
    const account = (await this.accounts(lease.roleName)).find(({ host }) => host === this.host)
    if (account) await this.mark(lease.id, lease.roleName)
    if (account && !account.hasLimit)
      await this.query(`ALTER USER ${this.account(lease.roleName)} WITH MAX_USER_CONNECTIONS ${this.maxConnections}`)
    if (account?.digest !== verifierDigest(lease.verifier)) throw new ProviderError('invalid', wrong)
  }

  private values(roleName: string) {
    return { roleName, verifier: '', expiresAt: '', database: this.config.connection.database, userHost: this.host }
  }

  /**
   * Locks the account first, because a client could reconnect faster than its sessions are ended. DROP USER ends no
   * session. The admin's own statements may still create the account. So the account is locked again after they have
   * ended.
   */
  async revoke(lease: LeaseAccountRef): Promise<Removal> {
    const { id, resourceRef, verifierDigest: digest } = lease
    checkName(resourceRef, this.admin.user)
    checkLeaseId(id)
    const before = await this.ownAccount(lease)
    if (before) await this.shutOut(resourceRef, before)
    // Ends only statements of the admin. A holder can name any lease in its statements, and start more than can be
    // ended.
    const isMaking = ({ statement }: RowDataPacket) => makesLease(id, digest, statement)
    await endThreads(this.query, `statements of ${resourceRef}`, this.admin.user, isMaking)
    const account = await this.ownAccount(lease)
    if (account) return await this.remove(id, resourceRef, account)
    if ((await this.accounts(resourceRef)).length > 0)
      throw new ProviderError('foreign', `the account ${resourceRef} does not belong to this lease`)
    return await this.forget(id)
  }

  private async ownAccount(lease: LeaseAccountRef): Promise<StoredAccount | undefined> {
    return (await this.accounts(lease.resourceRef)).find((account) => this.isOwn(account, lease))
  }

  /** An account without a mark still has its first verifier, because nobody could sign in to it. */
  private isOwn({ host, leaseId, digest }: StoredAccount, lease: LeaseAccountRef): boolean {
    if (leaseId !== null) return leaseId === lease.id
    return host === this.host && digest === lease.verifierDigest
  }

  private async shutOut(name: string, { host }: StoredAccount): Promise<void> {
    await this.query(`ALTER USER '${name}'@'${host}' ACCOUNT LOCK`)
    await endThreads(this.query, `sessions of ${name}`, name)
  }

  private async remove(id: string, name: string, account: StoredAccount): Promise<Removal> {
    await this.shutOut(name, account)
    const { host } = account
    for (const statement of this.config.revokeStatements ?? [])
      await this.query(fillTemplate(statement, this.values(name)))
    const dropped: string[] = []
    try {
      for (const object of await this.objectsOf(`${name}@${host}`, this.searchedDatabase())) {
        await this.query(dropStatement(object))
        dropped.push(labelOf(object))
      }
      await this.query(`DROP USER IF EXISTS '${name}'@'${host}'`)
      await this.forget(id)
      return removalOf(dropped, [], null)
    } catch (error) {
      if (dropped.length === 0 || !(error instanceof ProviderError)) throw error
      return removalOf(dropped, [], error.message)
    }
  }

  /** Only the custom level can let a lease define objects in any database. */
  private searchedDatabase(): string | null {
    return this.config.accessLevel === 'custom' ? null : this.config.connection.database
  }

  /** Removes the mark, also if a crash left it without its account. */
  private async forget(id: string): Promise<Removal> {
    const { beside } = await this.marks()
    if (beside && (await this.query(beside.find(id))).length > 0) await this.query(beside.remove(id))
    return nothingLeft
  }

  async list(): Promise<LeaseAccount[]> {
    const rows = await this.query((await this.marks()).find(null))
    return rows.map(({ name, leaseId }) => ({ name: String(name), leaseId: String(leaseId), verifierDigest: null }))
  }

  async close(): Promise<void> {
    this.connection.destroy()
  }

  private async accounts(name: string): Promise<StoredAccount[]> {
    return (await this.query((await this.marks()).find(name))).map(storedAccount)
  }

  private async objectsOf(definer: string, database: string | null): Promise<DefinedObject[]> {
    return (await this.query(definedBy(definer, database))).map(definedObject)
  }

  private async marks(): Promise<Marks> {
    if (this.foundMarks) return this.foundMarks
    const [server] = await this.query('SELECT VERSION() AS version')
    this.foundMarks = marksOf(isMariadb(server?.version))
    return this.foundMarks
  }

  /** Keeps one lease from using all connections of the target. */
  private get maxConnections(): number {
    return this.config.maxConnections ?? leaseConnectionsDefault
  }

  /** The host, spelled as the server stores it. */
  private get host(): string {
    return this.config.userHost.toLowerCase()
  }

  /** Neither the name nor the host can contain quotes or backslashes. */
  private account(name: string): string {
    return `'${name}'@'${this.host}'`
  }

  /** In a grant, `_` and `%` in a database’s name are wildcards, unless the server has partial_revokes enabled. */
  private async grantedDatabase(): Promise<string> {
    const { database } = this.config.connection
    const [partial] = await this.query(`SHOW GLOBAL VARIABLES LIKE 'partial_revokes'`)
    const literal = partial?.Value === 'ON' ? database : database.replace(/[_%]/g, '\\$&')
    return `\`${literal}\`.*`
  }

  private readonly query: Query = async (sql, secrets = []) => {
    try {
      const { answerMs } = waitLimits(this.outbound)
      const [rows] = await this.connection.query<RowDataPacket[]>({ sql, timeout: answerMs })
      return rows
    } catch (error) {
      // Later statements would wait behind a statement without an answer.
      if (isUnanswered(error)) this.connection.destroy()
      throw mysqlFailure(error, [this.admin.password, ...secrets])
    }
  }
}

const isUnanswered = (error: unknown) => mysqlFailure(error, []).reason === 'unreachable'

const existing = (name: string) => new ProviderError('exists', `an account ${name} already exists`)
