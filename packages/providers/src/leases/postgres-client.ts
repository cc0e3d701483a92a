import pg from 'pg'
import { type Outside, OutsideError } from '../outside.ts'
import { fromOutside, ProviderError, safeText } from '../provider-error.ts'
import { patience } from './checks.ts'
import type { Admin } from './connection-string.ts'
import type { LeaseTarget } from './provider.ts'
import { tlsSettings } from './tls.ts'

type Connection = LeaseTarget<'postgres'>['config']['connection']

/** Signs in on a socket from `outside`. */
export async function connectPostgres(
  connection: Connection,
  database: string,
  { user, password }: Admin,
  outside: Outside,
): Promise<pg.Client> {
  const { host, port } = connection
  const { answerMs } = patience(outside)
  const socket = await outside.connect({ host, port, timeoutMs: answerMs }).catch((error) => {
    throw postgresFailure(error, [password])
  })
  // The driver opens its stream itself; this one is open.
  socket.connect = () => {
    setImmediate(() => socket.emit('connect'))
    return socket
  }
  const client = new pg.Client({
    host,
    port,
    user,
    password,
    database,
    ssl: tlsSettings(connection),
    stream: () => socket,
    connectionTimeoutMillis: answerMs,
    query_timeout: answerMs,
    application_name: 'skerry',
  })
  // A connection that breaks between two statements is told by the next one; without a listener it ends the process.
  client.on('error', () => {})
  try {
    await client.connect()
    return client
  } catch (error) {
    socket.destroy()
    throw postgresFailure(error, [password])
  }
}

/**
 * Signs in as the account that changes others. The server itself gives up before we do: a statement that waits must not be
 * done after it was taken for lost, and one whose connection was cut would wait on.
 */
export async function connectPostgresAdmin(...to: Parameters<typeof connectPostgres>): Promise<pg.Client> {
  const client = await connectPostgres(...to)
  const [, , { password }, outside] = to
  const { statementMs } = patience(outside)
  try {
    await client.query(`SET statement_timeout = ${statementMs}; SET lock_timeout = ${statementMs * 0.75}`)
    return client
  } catch (error) {
    await client.end().catch(() => {})
    throw postgresFailure(error, [password])
  }
}

const reasons: Readonly<Record<string, ProviderError['reason']>> = {
  '28000': 'denied',
  '28P01': 'denied',
  '42501': 'denied',
  '42710': 'exists',
  '3D000': 'missing',
  '3F000': 'missing',
}

/** A refusal of the server, or the lack of an answer, in words that hold nothing secret. */
export function postgresFailure(error: unknown, secrets: readonly string[]): ProviderError {
  if (error instanceof ProviderError) return error
  if (error instanceof OutsideError) return fromOutside(error)
  if (error instanceof pg.DatabaseError) {
    const text = error.detail === undefined ? error.message : `${error.message}: ${error.detail}`
    const said = safeText(text, secrets) ?? `SQLSTATE ${error.code}`
    return new ProviderError(reasons[error.code ?? ''] ?? 'failed', said)
  }
  const said = error instanceof Error ? safeText(error.message, secrets) : null
  return new ProviderError('unreachable', said ?? 'the connection broke')
}
