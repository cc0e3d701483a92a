import { fillTemplate } from '@skerry/contract/leases/templates'
import type { Redis } from 'ioredis'
import type { Outbound } from '../outbound.ts'
import { ProviderError } from '../provider-error.ts'
import { checkAccount, checkConfig, checkName, verifierDigest } from './checks.ts'
import { type Admin, parseAdmin } from './connection-string.ts'
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
import { connectRedis, redisFailure, saveAccounts } from './redis-client.ts'
import { nothingLeft } from './removal.ts'

type Config = LeaseTarget<'redis'>['config']

/**
 * Rules apply from left to right. `+@read` alone would refuse SELECT, PING and MULTI, which every client needs. Clients
 * also send INFO first.
 */
const levels = {
  readonly: ['+@read', '+@connection', '+@transaction', '-@dangerous', '+info'],
  readwrite: ['~*', '+@all', '-@admin', '-@dangerous', '+info'],
} as const

export async function open(target: LeaseTarget<'redis'>, outbound: Outbound): Promise<LeaseSession<'redis'>> {
  const { config, credential } = target
  checkConfig(config)
  const { host, port } = config.connection
  const protocols = ['redis:', 'rediss:']
  const admin = parseAdmin(credential, {
    protocols,
    host,
    port,
    defaultPort: 6379,
    database: null,
    isUserOptional: true,
  })
  const client = await connectRedis(config.connection, admin, outbound)
  return new RedisSession(config, admin, client)
}

class RedisSession implements LeaseSession<'redis'> {
  private readonly config: Config
  private readonly admin: Admin
  private readonly client: Redis

  constructor(config: Config, admin: Admin, client: Redis) {
    this.config = config
    this.admin = admin
    this.client = client
  }

  async verify(): Promise<TargetFacts> {
    const info = await this.info()
    const version = info.get('valkey_version') ?? info.get('redis_version') ?? ''
    const server = `${info.has('valkey_version') ? 'Valkey' : 'Redis'} ${version}`
    const unsupported = (why: string) => new ProviderError('unsupported', `${server}: ${why}`)
    if (Number.parseInt(version, 10) < 6)
      throw unsupported('versions before 6 have no accounts (ACL), so they are not supported')
    if (info.get('role') === 'slave')
      throw unsupported('this server is a replica, and accounts are not replicated; use the primary')
    if (info.get('cluster_enabled') === '1')
      throw unsupported('a cluster is not supported, because every node has its own accounts')
    if (info.get('redis_mode') === 'sentinel') throw unsupported('this is a sentinel; use the primary')
    await this.call('ACL', 'LIST')
    await this.checkDatabase()
    const notes: string[] = []
    if ((await this.setting('aclfile')) === '')
      notes.push('The server has no ACL file, so it keeps accounts only in memory. A restart ends all leases.')
    if (Number(info.get('connected_slaves')) > 0)
      notes.push('Redis does not replicate accounts: replicas do not have them, and a failover ends all leases.')
    if (this.config.connection.db !== undefined)
      notes.push('An account can use every logical database; only key patterns limit what it can read.')
    return { server, notes }
  }

  /** An admin that may not read the setting tries the database. If it may do neither, the first client finds out. */
  private async checkDatabase(): Promise<void> {
    const { db = 0 } = this.config.connection
    const count = await this.setting('databases')
    const refuse = (many: string) => new ProviderError('invalid', `connection.db: the server has ${many}`)
    if (count !== null && db >= Number(count)) throw refuse(`${count} databases, 0 to ${Number(count) - 1}`)
    if (count !== null) return
    await this.call('SELECT', `${db}`).catch((error) => {
      if (error instanceof ProviderError && error.reason === 'denied') return
      throw refuse(`no database ${db}`)
    })
  }

  async create(lease: Lease<'redis'>): Promise<Issued<'redis'>> {
    checkAccount('redis', lease, this.admin.user)
    const { roleName, verifier } = lease
    // SETUSER would change an existing account.
    if ((await this.passwords(roleName)) !== null)
      throw new ProviderError('exists', `an account ${roleName} already exists`)
    await this.call('ACL', 'SETUSER', roleName, 'reset', 'on', `#${verifier}`, ...(await this.rules(roleName)))
    try {
      await this.save()
    } catch (error) {
      await this.call('ACL', 'DELUSER', roleName)
      throw error
    }
    const { host, port, db = 0 } = this.config.connection
    const expiresAt = lease.expiresAt.toISOString()
    return { resourceRef: roleName, result: { host, port, database: db, username: roleName, expiresAt } }
  }

  private async rules(roleName: string): Promise<readonly string[]> {
    const { accessLevel, rules = [] } = this.config
    // `-acl` keeps a lease from creating an account that outlives it, and from changing the verifier of its own
    // account.
    if (accessLevel === 'custom') return [...rules.map((rule) => fillTemplate(rule, { roleName })), '-acl']
    // Before Redis 7 there are no functions, and a key pattern always allows reading and writing. Only the commands
    // then keep a lease from writing.
    const isNew = Number.parseInt((await this.info()).get('redis_version') ?? '', 10) >= 7
    // A function outlives the lease, and runs with the rights of its caller.
    if (accessLevel === 'readwrite') return isNew ? [...levels.readwrite, '-function'] : levels.readwrite
    return [isNew ? '%R~*' : '~*', ...levels.readonly]
  }

  /** DELUSER closes the account’s connections. `off` or another password would leave them open. */
  async revoke({ resourceRef, verifierDigest: digest }: LeaseAccountRef): Promise<Removal> {
    checkName(resourceRef, this.admin.user)
    const passwords = await this.passwords(resourceRef)
    if (passwords !== null) {
      if (digest === null || !passwords.some((verifier) => verifierDigest(verifier) === digest))
        throw new ProviderError('foreign', `the account ${resourceRef} does not belong to this lease`)
      await this.call('ACL', 'DELUSER', resourceRef)
    }
    // Saves even if the account is gone already. An earlier save may have failed, and a restart would restore the
    // account.
    await this.save()
    return nothingLeft
  }

  async list(): Promise<LeaseAccount[]> {
    const lines = (await this.call('ACL', 'LIST')) as string[]
    return lines.flatMap((line) => {
      const [, name = '', ...rules] = line.split(' ')
      const verifier = rules.find((rule) => rule.startsWith('#'))?.slice(1)
      if (verifier === undefined || name === 'default' || name === this.admin.user) return []
      return [{ name, leaseId: null, verifierDigest: verifierDigest(verifier) }]
    })
  }

  async close(): Promise<void> {
    this.client.disconnect()
  }

  /** SHA-256 digests of the account’s passwords, or null if there is no such account. */
  private async passwords(name: string): Promise<string[] | null> {
    const fields = (await this.call('ACL', 'GETUSER', name)) as unknown[] | null
    if (fields === null) return null
    return fields[fields.indexOf('passwords') + 1] as string[]
  }

  private async save(): Promise<void> {
    await saveAccounts(this.client).catch((error) => {
      throw redisFailure(error, [this.admin.password])
    })
  }

  /** Null if the admin account may not read the setting. */
  private async setting(name: string): Promise<string | null> {
    try {
      return ((await this.call('CONFIG', 'GET', name)) as string[])[1] ?? ''
    } catch (error) {
      if (error instanceof ProviderError && error.reason === 'denied') return null
      throw error
    }
  }

  private async info(): Promise<Map<string, string>> {
    const text = String(await this.call('INFO'))
    return new Map(text.split(/\r?\n/).map((line) => line.split(':', 2) as [string, string]))
  }

  private async call(command: string, ...args: string[]): Promise<unknown> {
    try {
      return await this.client.call(command, ...args)
    } catch (error) {
      throw redisFailure(error, [this.admin.password])
    }
  }
}
