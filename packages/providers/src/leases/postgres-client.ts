import pg from 'pg'
import { type Outbound, OutboundError } from '../outbound.ts'
import { errorTextOf, fromOutbound, ProviderError } from '../provider-error.ts'
import { waitLimits } from './checks.ts'
import { cleartextRefusal, mayReadPassword } from './cleartext.ts'
import type { Admin } from './connection-string.ts'
import type { LeaseTarget } from './provider.ts'
import { tlsSettings } from './tls.ts'

type Connection = LeaseTarget<'postgres'>['config']['connection']

/** Signs in on a socket from `outbound`. */
export async function connectPostgres(
  connection: Connection,
  database: string,
  { user, password }: Admin,
  outbound: Outbound,
): Promise<pg.Client> {
  const { host, port } = connection
  const { answerMs } = waitLimits(outbound)
  const socket = await outbound.connect({ host, port, timeoutMs: answerMs }).catch((error) => {
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
    // A function, because the driver would look for an empty password in PGPASSWORD and in ~/.pgpass.
    password: () => password,
    database,
    ssl: tlsSettings(connection),
    stream: () => socket,
    connectionTimeoutMillis: answerMs,
    query_timeout: answerMs,
    application_name: 'skerry',
  })
  // A connection that breaks between two statements is told by the next one; without a listener it ends the process.
  client.on('error', () => {})
  const refusal = refuseCleartext(client, connection)
  try {
    await client.connect()
    return client
  } catch (error) {
    socket.destroy()
    if (error instanceof Error && password === '' && /password must be a(?: non-empty)? string/.test(error.message))
      throw new ProviderError('denied', 'the server asks for a password, and the connection string has none')
    throw postgresFailure(refusal() ?? error, [password])
  }
}

const readable = {
  authenticationCleartextPassword: 'the password itself',
  authenticationMD5Password: 'an MD5 hash of the password',
} as const

/** Closes the connection where the server asks for a password that it, or anyone on the way, could read. */
function refuseCleartext(client: pg.Client, connection: Connection): () => ProviderError | undefined {
  let refusal: ProviderError | undefined
  if (mayReadPassword(connection)) return () => refusal
  // Added before `connect` adds the driver's own listeners: the driver then answers on a closed connection.
  for (const [event, what] of Object.entries(readable))
    client.connection.prependListener(event, () => {
      refusal = cleartextRefusal(what)
      client.connection.stream.destroy()
    })
  return () => refusal
}

/**
 * Statements of the admin find functions, operators and types in PostgreSQL's own schema alone. A lease that may create a
 * function elsewhere could otherwise have the admin call it, because a closer match of argument types wins over an earlier
 * schema. Statements say `pg_catalog.` as well.
 */
export const CATALOG_ONLY = 'SET search_path = pg_catalog, pg_temp'

/**
 * Signs in as the account that changes others. The server itself gives up before we do: a statement that waits must not be
 * done after it was taken for lost, and one whose connection was cut would wait on.
 */
export async function connectPostgresAdmin(...to: Parameters<typeof connectPostgres>): Promise<pg.Client> {
  const client = await connectPostgres(...to)
  const [, , { password }, outbound] = to
  const { statementMs } = waitLimits(outbound)
  try {
    await client.query(CATALOG_ONLY)
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
  if (error instanceof OutboundError) return fromOutbound(error)
  if (error instanceof pg.DatabaseError) {
    const text = error.detail === undefined ? error.message : `${error.message}: ${error.detail}`
    const errorText = errorTextOf(text, secrets) ?? `SQLSTATE ${error.code}`
    return new ProviderError(reasons[error.code ?? ''] ?? 'failed', errorText)
  }
  const errorText = error instanceof Error ? errorTextOf(error.message, secrets) : null
  return new ProviderError('unreachable', errorText ?? 'the connection broke')
}
