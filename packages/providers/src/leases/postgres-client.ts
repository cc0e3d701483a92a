import pg from 'pg'
import { type Outside, OutsideError } from '../outside.ts'
import { ProviderError, safeText } from '../provider-error.ts'
import { answerMs } from './checks.ts'
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
  if (error instanceof OutsideError) return new ProviderError('unreachable', error.message)
  if (error instanceof pg.DatabaseError) {
    const said = safeText(error.message, secrets) ?? `SQLSTATE ${error.code}`
    return new ProviderError(reasons[error.code ?? ''] ?? 'failed', said)
  }
  const said = error instanceof Error ? safeText(error.message, secrets) : null
  return new ProviderError('unreachable', said ?? 'the connection broke')
}
