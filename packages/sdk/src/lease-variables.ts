import type { LeaseConfig, LeaseTag } from '@skerry/contract/leases/providers'
import { isLoopback } from '@skerry/contract/loopback'
import type { LeaseTarget, MadeLease } from './lease-making.ts'

type Mode = 'disable' | 'require' | 'verify-full'
type Of<P extends MadeLease['provider']> = Extract<MadeLease, { provider: P }>

interface Account {
  connection: { host: string; port: number; database: string | number; username: string }
  password: string
}

interface Security {
  tls?: Mode
  caCertificate?: string
}

/**
 * The environment variables of a lease. `files` has certificates that a program needs as a file, by the variable for
 * the path.
 */
export interface LeaseVariables {
  values: Map<string, string>
  files: ReadonlyMap<string, string>
}

/**
 * Builds the environment variables from which programs read their connections, by the customs of each kind of target.
 *
 * @param trusted certificates (PEM) of the authorities that this machine trusts, for programs that must be given them
 * @example
 * const made = await createLease(client, { orgId, target, ttlSeconds: 600 })
 * if (made.provider !== 'ssh') console.log(variablesOf(made, target).values.get('PGHOST'))
 */
export function variablesOf(
  made: Exclude<MadeLease, Of<'ssh'>>,
  target: Pick<LeaseTarget, 'config'>,
  trusted: readonly string[] = [],
): LeaseVariables {
  const config = target.config as unknown as LeaseConfig<LeaseTag>
  const { values, files = {} } = rows(made, config, trusted)
  return { values: new Map(Object.entries(values)), files: new Map(Object.entries(files)) }
}

type Row = { values: Record<string, string>; files?: Record<string, string> }

function rows(made: Exclude<MadeLease, Of<'ssh'>>, config: object, trusted: readonly string[]): Row {
  switch (made.provider) {
    case 'postgres':
      return postgres(made, config as LeaseConfig<'postgres'>, trusted)
    case 'mysql':
      return mysql(made, config as LeaseConfig<'mysql'>)
    case 'redis':
      return redis(made, config as LeaseConfig<'redis'>)
    case 'mongodb':
      return mongodb(made, config as LeaseConfig<'mongodb'>)
    case 'cloud-a':
      return aws(made)
    case 'cloud-b':
      return {
        values: { CLOUDSDK_AUTH_ACCESS_TOKEN: made.accessToken, GOOGLE_OAUTH_ACCESS_TOKEN: made.accessToken },
      }
  }
}

/**
 * The same default as on the server: full verification, unless the target is this machine or its config says otherwise.
 */
const modeOf = (host: string, tls: Mode | undefined): Mode => tls ?? (isLoopback(host) ? 'disable' : 'verify-full')

/** libpq trusts no authority by itself. It gets the target’s authority, or those that this machine trusts. */
function postgres({ connection, password }: Account, config: LeaseConfig<'postgres'>, trusted: readonly string[]): Row {
  const { host, port, database, username } = connection
  const { tls, caCertificate } = config.connection as Security
  const mode = modeOf(host, tls)
  const values = {
    PGHOST: host,
    PGPORT: String(port),
    PGDATABASE: String(database),
    PGUSER: username,
    PGPASSWORD: password,
    PGSSLMODE: mode,
    DATABASE_URL: urlOf('postgres', { connection, password }, { sslmode: mode }),
  }
  const authorities = caCertificate ?? trusted.join('\n')
  return mode === 'verify-full' && authorities !== '' ? { values, files: { PGSSLROOTCERT: authorities } } : { values }
}

function mysql(made: Account, config: LeaseConfig<'mysql'>): Row {
  const { connection, password } = made
  return {
    values: {
      MYSQL_HOST: connection.host,
      MYSQL_TCP_PORT: String(connection.port),
      MYSQL_DATABASE: String(connection.database),
      MYSQL_USER: connection.username,
      MYSQL_PWD: password,
      DATABASE_URL: urlOf('mysql', made),
    },
    ...withCa('MYSQL_SSL_CA', config.connection as Security),
  }
}

function redis(made: Account, config: LeaseConfig<'redis'>): Row {
  const { connection, password } = made
  const mode = modeOf(connection.host, (config.connection as Security).tls)
  const url = urlOf(mode === 'disable' ? 'redis' : 'rediss', made)
  return {
    values: {
      REDIS_HOST: connection.host,
      REDIS_PORT: String(connection.port),
      REDIS_DB: String(connection.database),
      REDIS_USERNAME: connection.username,
      REDIS_PASSWORD: password,
      REDISCLI_AUTH: password,
      REDIS_URL: url,
      DATABASE_URL: url,
    },
    ...withCa('REDIS_CA_FILE', config.connection as Security),
  }
}

function mongodb(made: Of<'mongodb'>, config: LeaseConfig<'mongodb'>): Row {
  const { connection } = made
  const tls = modeOf(connection.host, config.tls as Mode | undefined) !== 'disable'
  const url = urlOf('mongodb', made, { authSource: connection.authSource, tls: String(tls) })
  return {
    values: { MONGODB_URI: url, DATABASE_URL: url },
    ...withCa('MONGODB_CA_FILE', config.connection as Security),
  }
}

function aws({ credential, region }: Of<'cloud-a'>): Row {
  return {
    values: {
      AWS_ACCESS_KEY_ID: credential.accessKeyId,
      AWS_SECRET_ACCESS_KEY: credential.secretAccessKey,
      AWS_SESSION_TOKEN: credential.sessionToken,
      AWS_REGION: region,
      AWS_DEFAULT_REGION: region,
    },
  }
}

const withCa = (name: string, { caCertificate }: Security) =>
  caCertificate === undefined ? {} : { files: { [name]: caCertificate } }

function urlOf(scheme: string, { connection, password }: Account, parameters: Record<string, string> = {}): string {
  const { host, port, database, username } = connection
  const account = `${encodeURIComponent(username)}:${encodeURIComponent(password)}`
  const query = new URLSearchParams(parameters).toString()
  const address = `${host.includes(':') ? `[${host}]` : host}:${port}`
  return `${scheme}://${account}@${address}/${encodeURIComponent(database)}${query === '' ? '' : `?${query}`}`
}
