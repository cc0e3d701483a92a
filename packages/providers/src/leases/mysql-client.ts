import { type AuthPlugin, authPlugins } from 'mysql2'
import { type Connection, createConnection, type RowDataPacket } from 'mysql2/promise'
import { addressFamily } from '../address.ts'
import { type Outbound, OutboundError } from '../outbound.ts'
import { errorTextOf, fromOutbound, ProviderError } from '../provider-error.ts'
import { waitLimits } from './checks.ts'
import { cleartextRefusal, mayReadPassword } from './cleartext.ts'
import type { Admin } from './connection-string.ts'
import type { LeaseTarget } from './provider.ts'
import { tlsSettings } from './tls.ts'

type Target = LeaseTarget<'mysql'>['config']['connection']

/** Runs a statement as the admin account. Texts in `secrets` never appear in an error. */
export type Query = (sql: string, secrets?: string[]) => Promise<RowDataPacket[]>

/** Signs in on a socket from `outbound`. */
export async function connectMysql(target: Target, { user, password }: Admin, outbound: Outbound): Promise<Connection> {
  const { host, port, database } = target
  const { answerMs } = waitLimits(outbound)
  const tls = tlsSettings(target)
  // The driver compares certificates only with names. It would treat an address as `localhost`.
  if (tls !== false && tls.rejectUnauthorized && addressFamily(host))
    throw new ProviderError('invalid', 'connection.host: verify-full needs a host name, not an IP address')
  const secure = tls && {
    rejectUnauthorized: tls.rejectUnauthorized,
    verifyIdentity: tls.rejectUnauthorized,
    ...(tls.ca === undefined ? {} : { ca: tls.ca }),
  }
  const mayRead = mayReadPassword(target)
  const guard = guardPassword()
  try {
    const socket = await outbound.connect({ host, port, timeoutMs: answerMs })
    const connection = await createConnection({
      host,
      port,
      user,
      password,
      database,
      stream: socket,
      connectTimeout: answerMs,
      ...(secure ? { ssl: secure } : {}),
      ...(mayRead ? { enableCleartextPlugin: true } : { authPlugins: guard.plugins }),
    })
    // If a connection breaks between two statements, the next one reports it. Without a listener, the error ends this
    // process.
    connection.on('error', () => {})
    return connection
  } catch (error) {
    throw mysqlFailure(guard.refusal() ?? error, [password])
  }
}

/**
 * `perform full authentication` of caching_sha2_password: the server requests the password, or offers a key of its own.
 */
const fullAuthentication = Buffer.from([4])

/**
 * The driver's authentication plugins, without those that let a server read the password. Encryption with a key that
 * the server sends does not help: anyone between could send a key.
 */
function guardPassword(): { plugins: Record<string, AuthPlugin>; refusal: () => ProviderError | undefined } {
  let refusal: ProviderError | undefined
  const refuse = (plugin: string): Promise<Buffer> => {
    refusal = cleartextRefusal(`the password itself (${plugin})`)
    return Promise.reject(refusal)
  }
  return {
    refusal: () => refusal,
    plugins: {
      mysql_clear_password: () => () => refuse('mysql_clear_password'),
      sha256_password: () => () => refuse('sha256_password'),
      caching_sha2_password: (metadata) => {
        const answer = authPlugins.caching_sha2_password()(metadata)
        return (data) => (fullAuthentication.equals(data) ? refuse('caching_sha2_password') : answer(data))
      },
    },
  }
}

/**
 * Signs in as the admin account. Where possible, the server gives up a statement before we do: a waiting statement must
 * not run after we reported it as failed. MySQL has a limit for locks only, MariaDB has one for every statement.
 */
export async function connectMysqlAdmin(target: Target, admin: Admin, outbound: Outbound): Promise<Connection> {
  const connection = await connectMysql(target, admin, outbound)
  const { answerMs, statementMs } = waitLimits(outbound)
  const seconds = Math.max(1, Math.floor(statementMs / 1000))
  const sql = `SET SESSION lock_wait_timeout = ${seconds} /*M! , max_statement_time = ${seconds} */`
  try {
    await connection.query({ sql, timeout: answerMs })
    return connection
  } catch (error) {
    connection.destroy()
    throw mysqlFailure(error, [admin.password])
  }
}

const reasons: Readonly<Record<number, ProviderError['reason']>> = {
  1044: 'denied',
  1045: 'denied',
  1142: 'denied',
  1227: 'denied',
  1410: 'denied',
  1698: 'denied',
  1049: 'missing',
  1524: 'unsupported',
}

/** `CREATE USER failed`: the account exists. */
export const cannotCreateUser = 1396
/** `Unknown thread id`: the session has ended. */
export const noSuchThread = 1094

/** A refusal of the server, with its error number. */
export class MysqlFailure extends ProviderError {
  readonly errno: number

  constructor(errno: number, message: string) {
    super(reasons[errno] ?? 'failed', message)
    this.errno = errno
  }
}

/** Turns a refusal of the server, or a missing answer, into an error without secrets. */
export function mysqlFailure(error: unknown, secrets: readonly string[]): ProviderError {
  if (error instanceof ProviderError) return error
  if (error instanceof OutboundError) return fromOutbound(error)
  const { errno, sqlMessage, message } = error as { errno?: number; sqlMessage?: string; message?: string }
  if (sqlMessage !== undefined && errno !== undefined)
    return new MysqlFailure(errno, errorTextOf(sqlMessage, secrets) ?? `error ${errno}`)
  return new ProviderError('unreachable', errorTextOf(message ?? '', secrets) || 'the connection was interrupted')
}
