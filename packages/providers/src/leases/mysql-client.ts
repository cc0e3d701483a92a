import { isIP } from 'node:net'
import { type Connection, createConnection } from 'mysql2/promise'
import { type Outside, OutsideError } from '../outside.ts'
import { ProviderError, safeText } from '../provider-error.ts'
import { answerMs } from './checks.ts'
import type { Admin } from './connection-string.ts'
import type { LeaseTarget } from './provider.ts'
import { tlsSettings } from './tls.ts'

type Target = LeaseTarget<'mysql'>['config']['connection']

/** Signs in on a socket from `outside`. */
export async function connectMysql(target: Target, { user, password }: Admin, outside: Outside): Promise<Connection> {
  const { host, port, database } = target
  const tls = tlsSettings(target)
  // The driver compares certificates with names alone, and would take an address for `localhost`.
  if (tls && tls.rejectUnauthorized && isIP(host))
    throw new ProviderError('invalid', 'connection.host: verify-full needs a host name here, not an address')
  const secure = tls && {
    rejectUnauthorized: tls.rejectUnauthorized,
    verifyIdentity: tls.rejectUnauthorized,
    ...(tls.ca === undefined ? {} : { ca: tls.ca }),
  }
  try {
    const socket = await outside.connect({ host, port, timeoutMs: answerMs })
    const connection = await createConnection({
      host,
      port,
      user,
      password,
      database,
      stream: socket,
      connectTimeout: answerMs,
      ...(secure ? { ssl: secure } : {}),
    })
    // A connection that breaks between two statements is told by the next one; without a listener it ends the process.
    connection.on('error', () => {})
    return connection
  } catch (error) {
    throw mysqlFailure(error, [password])
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

/** A refusal of the server, or the lack of an answer, in words that hold nothing secret. */
export function mysqlFailure(error: unknown, secrets: readonly string[]): ProviderError {
  if (error instanceof ProviderError) return error
  if (error instanceof OutsideError) return new ProviderError('unreachable', error.message)
  const { errno, sqlMessage, message } = error as { errno?: number; sqlMessage?: string; message?: string }
  if (sqlMessage !== undefined && errno !== undefined) {
    const said = safeText(sqlMessage, secrets) ?? `error ${errno}`
    return new ProviderError(reasons[errno] ?? 'failed', said)
  }
  return new ProviderError('unreachable', safeText(message ?? '', secrets) || 'the connection broke')
}
