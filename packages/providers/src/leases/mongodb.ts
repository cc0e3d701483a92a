import { randomBytes } from 'node:crypto'
import type { Socket } from 'node:net'
import { mongodbUserName } from '@skerry/contract/leases/facts'
import { type Document, MongoClient, MongoServerError } from 'mongodb'
import { type Outbound, OutboundError } from '../outbound.ts'
import { errorTextOf, fromOutbound, ProviderError } from '../provider-error.ts'
import { checkConfig, waitLimits } from './checks.ts'
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
import { openRelay, type Relay } from './relay.ts'
import { nothingLeft } from './removal.ts'
import { secured, tlsSettings } from './tls.ts'

type Config = LeaseTarget<'mongodb'>['config']

const roles = { readonly: 'read', readwrite: 'readWrite' } as const

/** With one of these rights, a lease could create accounts, or grant rights to accounts, that outlive it. */
const lasting = ['createUser', 'createRole', 'grantRole', 'anyAction']

/** Each of these rights on the cluster allows `killAllSessions`. */
const killing = ['killAnySession', 'anyAction']

/** Error codes of MongoDB. */
const codes = { userNotFound: 11, unauthorized: 13, authenticationFailed: 18, roleNotFound: 31, duplicateUser: 51003 }

export async function open(target: LeaseTarget<'mongodb'>, outbound: Outbound): Promise<LeaseSession<'mongodb'>> {
  const { config, credential } = target
  checkConfig(config)
  const { host, port, database } = config.connection
  // Atlas rejects the commands of user administration as not supported.
  if (host.endsWith('.mongodb.net'))
    throw new ProviderError(
      'unsupported',
      'MongoDB Atlas is not supported, because it creates accounts only through its own Admin API',
    )
  const source = config.authSource ?? 'admin'
  const parameters = { authSource: source }
  const admin = parseAdmin(credential, {
    protocols: ['mongodb:'],
    host,
    port,
    defaultPort: 27_017,
    database,
    parameters,
  })
  const { answerMs } = waitLimits(outbound)
  const relay = await relayTo(config, outbound, answerMs)
  const client = clientOn(relay, admin, source, answerMs)
  const session = new MongodbSession(config, admin, client, relay)
  try {
    await session.command({ ping: 1 })
  } catch (error) {
    await session.close()
    throw error
  }
  return session
}

/**
 * Makes the first connection before the driver needs one, so that a refusal shows at once. The driver would retry an
 * unreachable server for its whole timeout.
 */
async function relayTo(config: Config, outbound: Outbound, answerMs: number): Promise<Relay> {
  const { connection, tls } = config
  const { host, port } = connection
  const connect = async () => {
    const socket = await outbound.connect({ host, port, timeoutMs: answerMs })
    return await secured(socket, tlsSettings({ ...connection, ...(tls ? { tls } : {}) }), answerMs)
  }
  let first: Socket | undefined = await connect().catch((error: unknown) => {
    throw error instanceof OutboundError ? fromOutbound(error) : error
  })
  // If this connection breaks before the driver uses it, the driver reports the error.
  first.on('error', () => {})
  return await openRelay(async () => {
    const socket = first
    first = undefined
    return socket ?? (await connect())
  })
}

/** Allows one connection for commands and one that monitors the server, because the driver needs both. */
function clientOn(relay: Relay, { user, password }: Admin, authSource: string, answerMs: number): MongoClient {
  return new MongoClient(`mongodb://${encodeURIComponent(relay.path)}/`, {
    auth: { username: user, password },
    authSource,
    appName: 'skerry',
    directConnection: true,
    maxPoolSize: 1,
    serverMonitoringMode: 'poll',
    serverSelectionTimeoutMS: answerMs,
    connectTimeoutMS: answerMs,
    socketTimeoutMS: answerMs,
    retryWrites: false,
    retryReads: false,
  })
}

/** @param role the role with its own and its inherited privileges */
function lastingRightOf({ privileges = [], inheritedPrivileges = [] }: Document): string | undefined {
  const held = [...privileges, ...inheritedPrivileges].flatMap(({ actions }: Document) => actions as string[])
  return lasting.find((right) => held.includes(right))
}

class MongodbSession implements LeaseSession<'mongodb'> {
  private readonly config: Config
  private readonly admin: Admin
  private readonly client: MongoClient
  private readonly relay: Relay
  private readonly source: string

  constructor(config: Config, admin: Admin, client: MongoClient, relay: Relay) {
    this.config = config
    this.admin = admin
    this.client = client
    this.relay = relay
    this.source = config.authSource ?? 'admin'
  }

  async verify(): Promise<TargetFacts> {
    const hello = await this.command({ hello: 1 })
    const { version } = await this.command({ buildInfo: 1 })
    const server = `MongoDB ${version}`
    if (!hello.isWritablePrimary)
      throw new ProviderError('unsupported', `${server}: this server is a secondary; use the primary`)
    await this.command({ usersInfo: { user: this.admin.user, db: this.source } })
    const notes = await this.checkRoles()
    notes.push(...(await this.checkKillRight()))
    if (hello.msg === 'isdbgrid')
      notes.push('Routers of a sharded cluster may accept an account for up to 30 seconds after it was removed.')
    if (hello.setName !== undefined)
      notes.push('Only this member of the replica set is used: after a failover leases wait until it is primary again.')
    return { server, notes }
  }

  /**
   * Checks the roles of leases. An admin that may create accounts may lack the right to see roles of other databases.
   */
  private async checkRoles(): Promise<string[]> {
    const wanted = this.roles()
    try {
      const { roles: found } = await this.command({ rolesInfo: wanted, showPrivileges: true })
      for (const [index, { role, db }] of wanted.entries()) {
        const known = (found as Document[]).find((one) => one.role === role && one.db === db)
        if (!known)
          throw new ProviderError('invalid', `roles[${index}]: there is no role ${role} in the database ${db}`)
        const right = lastingRightOf(known)
        if (right)
          throw new ProviderError(
            'invalid',
            `roles[${index}]: ${role} grants ${right}, so a lease could create accounts that outlive it`,
          )
      }
      return []
    } catch (error) {
      if (!(error instanceof MongodbFailure && error.code === codes.unauthorized)) throw error
      return ['The admin account lacks viewRole, so Skerry could not check whether the roles of leases exist.']
    }
  }

  /** Checks the right to end running operations, without which `revoke` only removes the account. */
  private async checkKillRight(): Promise<string[]> {
    const { authInfo } = await this.command({ connectionStatus: 1, showPrivileges: true })
    const privileges = ((authInfo as Document).authenticatedUserPrivileges ?? []) as Privilege[]
    const mayKill = privileges.some(
      ({ resource, actions }) =>
        (resource.cluster || resource.anyResource) && killing.some((action) => actions.includes(action)),
    )
    if (mayKill) return []
    return [
      'The admin account lacks killAnySession: an operation that runs when its lease ends continues until it is done.',
    ]
  }

  async create(lease: Lease<'mongodb'>): Promise<Issued<'mongodb'>> {
    const { host, port, database } = this.config.connection
    const username = mongodbUserName(lease.id)
    // Begins with a letter, and has no characters that are special in a URL or a shell.
    const password = `p${randomBytes(24).toString('base64url')}`
    await this.command(
      {
        createUser: username,
        pwd: password,
        roles: this.roles(),
        // Without this field, the server would also store a SHA-1 verifier.
        mechanisms: ['SCRAM-SHA-256'],
        customData: { skerryLease: lease.id, expiresAt: lease.expiresAt },
        writeConcern: { w: 'majority' },
      },
      [password],
    )
    const expiresAt = lease.expiresAt.toISOString()
    return {
      resourceRef: username,
      result: { username, host, port, database, authSource: this.source, expiresAt },
      credential: password,
    }
  }

  private roles(): { role: string; db: string }[] {
    const { accessLevel, connection } = this.config
    if (accessLevel === 'custom') return this.config.roles ?? []
    return [{ role: roles[accessLevel], db: connection.database }]
  }

  /**
   * Ends running operations first, because a dropped account’s connections stay open until their next operation. If the
   * admin account lacks the right, `verify` has noted it, and the account is only removed. The name proves that the
   * account is the lease’s own: it is derived from the lease’s id, which only the ledger issues.
   */
  async revoke({ id, resourceRef }: LeaseAccountRef): Promise<Removal> {
    if (resourceRef !== mongodbUserName(id))
      throw new ProviderError('foreign', `the account ${resourceRef} does not belong to this lease`)
    const { users } = await this.command({ usersInfo: { user: resourceRef, db: this.source } })
    if ((users as UserInfo[]).length === 0) return nothingLeft
    await this.command({ killAllSessions: [{ user: resourceRef, db: this.source }] }).catch(allow(codes.unauthorized))
    await this.command({ dropUser: resourceRef, writeConcern: { w: 'majority' } }).catch(allow(codes.userNotFound))
    return nothingLeft
  }

  async list(): Promise<LeaseAccount[]> {
    const { users } = await this.command({ usersInfo: 1 })
    const prefix = mongodbUserName('')
    return (users as UserInfo[]).flatMap(({ user }) =>
      user.startsWith(prefix) ? [{ name: user, leaseId: user.slice(prefix.length), verifierDigest: null }] : [],
    )
  }

  async close(): Promise<void> {
    await this.client.close(true)
    await this.relay.close()
  }

  async command(command: Document, secrets: readonly string[] = []): Promise<Document> {
    try {
      return await this.client.db(this.source).command(command)
    } catch (error) {
      throw this.failure(error, [this.admin.password, ...secrets])
    }
  }

  private failure(error: unknown, secrets: readonly string[]): ProviderError {
    const broken = this.relay.failure()
    if (error instanceof MongoServerError) {
      const code = Number(error.code)
      const reason = reasons[code] ?? 'failed'
      return new MongodbFailure(reason, errorTextOf(error.message, secrets) ?? `error ${code}`, code)
    }
    if (broken instanceof OutboundError) return fromOutbound(broken)
    const errorText = error instanceof Error ? errorTextOf(error.message, secrets) : null
    return new ProviderError('unreachable', errorText ?? 'the connection was interrupted')
  }
}

interface UserInfo {
  user: string
}

interface Privilege {
  resource: { cluster?: boolean; anyResource?: boolean }
  actions: string[]
}

const reasons: Readonly<Record<number, ProviderError['reason']>> = {
  [codes.unauthorized]: 'denied',
  [codes.authenticationFailed]: 'denied',
  [codes.roleNotFound]: 'invalid',
  [codes.duplicateUser]: 'exists',
}

class MongodbFailure extends ProviderError {
  readonly code: number

  constructor(reason: ProviderError['reason'], message: string, code: number) {
    super(reason, message)
    this.code = code
  }
}

const allow = (code: number) => (error: unknown) => {
  if (!(error instanceof MongodbFailure && error.code === code)) throw error
}
