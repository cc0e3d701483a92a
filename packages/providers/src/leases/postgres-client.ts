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
  // The driver wants to open its stream itself, but this one is already open.
  socket.connect = () => {
    setImmediate(() => socket.emit('connect'))
    return socket
  }
  const client = new pg.Client({
    host,
    port,
    user,
    // A function, because the driver would replace an empty password by PGPASSWORD or a line of ~/.pgpass.
    password: () => password,
    database,
    ssl: tlsSettings(connection),
    stream: () => socket,
    connectionTimeoutMillis: answerMs,
    query_timeout: answerMs,
    application_name: 'skerry',
  })
  // If a connection breaks between two statements, the next one reports it. Without a listener, the error ends this
  // process.
  client.on('error', () => {})
  const refusal = refuseCleartext(client, connection)
  try {
    await client.connect()
    return client
  } catch (error) {
    socket.destroy()
    if (error instanceof Error && password === '' && /password must be a(?: non-empty)? string/.test(error.message))
      throw new ProviderError('denied', 'the server asks for a password, but the connection string has none')
    throw postgresFailure(refusal() ?? error, [password])
  }
}

const readable = {
  authenticationCleartextPassword: 'the password itself',
  authenticationMD5Password: 'an MD5 hash of the password',
} as const

/** Closes the connection if the server requests a password in a form that it, or anyone on the way, could read. */
function refuseCleartext(client: pg.Client, connection: Connection): () => ProviderError | undefined {
  let refusal: ProviderError | undefined
  if (mayReadPassword(connection)) return () => refusal
  // Added before the driver adds its own listeners in `connect`, so that the driver answers on a closed connection.
  for (const [event, what] of Object.entries(readable))
    client.connection.prependListener(event, () => {
      refusal = cleartextRefusal(what)
      client.connection.stream.destroy()
    })
  return () => refusal
}

/**
 * Limits the admin's statements to functions, operators and types of PostgreSQL's own schema. Otherwise a lease that
 * may create functions could make the admin call one: a closer match of argument types wins over an earlier schema. The
 * statements write `pg_catalog.` as well.
 */
export const CATALOG_ONLY = 'SET search_path = pg_catalog, pg_temp'

/**
 * Signs in as the admin account. The server gives up a statement before we do: a waiting statement must not run after
 * we reported it as failed. A statement whose connection was cut would keep waiting.
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

/** Turns a refusal of the server, or a missing answer, into an error without secrets. */
export function postgresFailure(error: unknown, secrets: readonly string[]): ProviderError {
  if (error instanceof ProviderError) return error
  if (error instanceof OutboundError) return fromOutbound(error)
  if (error instanceof pg.DatabaseError) {
    const text = error.detail === undefined ? error.message : `${error.message}: ${error.detail}`
    const errorText = errorTextOf(text, secrets) ?? `SQLSTATE ${error.code}`
    return new ProviderError(reasons[error.code ?? ''] ?? 'failed', errorText)
  }
  const errorText = error instanceof Error ? errorTextOf(error.message, secrets) : null
  return new ProviderError('unreachable', errorText ?? 'the connection was interrupted')
}
