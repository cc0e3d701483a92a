import { isLoopback } from '@skerry/contract/loopback'
import { settings, type Values } from './settings.ts'

export interface Config {
  host: string
  port: number
  baseUrl: string | null
  trustedProxies: string[]
  databaseUrl: string | null
  databasePool: number
  databaseSilentMs: number
  dataDir: string
  serverKey: string | null
  serverKeyPrevious: string | null
  oidc: { issuer: string; audience: string; clientId: string; clientSecret: string | null } | null
  privateTargets: readonly string[]
  providerOrigins: Readonly<Record<string, string>>
  adapterProcesses: number
  /** The complete environment of adapter processes: variables for the verification of TLS, and no secrets. */
  adapterEnvironment: Readonly<Record<string, string>>
  smtpUrl: string | null
  /** Mails may be sent without TLS: the SMTP server is on a loopback address, or the operator allowed it. */
  smtpCleartext: boolean
  mailFrom: string
  resolveCacheBytes: number
  resolveInFlightBytes: number
  signup: 'open' | 'closed'
  connectionsPerAddress: number
  environmentSecretsMax: number
  environmentBytesMax: number
  corsOrigins: '*' | readonly string[]
  plansEnforced: boolean
  stripe: { secretKey: string; webhookSecret: string | null; prices: Readonly<Record<string, string>> } | null
  logLevel: Values['SKERRY_LOG_LEVEL']
  rateLimits: boolean
}

/** An invalid setting. The message names the variable, and never repeats a value that may be a credential. */
export class ConfigError extends Error {}

/**
 * Reads the settings from environment variables. An unknown SKERRY_* variable is refused. If a misspelt setting were
 * ignored, a server could use the wrong database.
 */
export function readConfig(environment: Record<string, string | undefined>): Config {
  const values = readValues(environment)
  if (Boolean(values.SKERRY_OIDC_ISSUER) !== Boolean(values.SKERRY_OIDC_AUDIENCE))
    throw new ConfigError('SKERRY_OIDC_ISSUER and SKERRY_OIDC_AUDIENCE: set both or neither')
  if (!values.SKERRY_OIDC_ISSUER && (values.SKERRY_OIDC_CLIENT_ID || values.SKERRY_OIDC_CLIENT_SECRET))
    throw new ConfigError('SKERRY_OIDC_CLIENT_ID and SKERRY_OIDC_CLIENT_SECRET: say nothing without SKERRY_OIDC_ISSUER')
  const sold = Object.keys(values.SKERRY_STRIPE_PRICES).length > 0
  if (!values.SKERRY_STRIPE_SECRET_KEY && (values.SKERRY_STRIPE_WEBHOOK_SECRET || sold))
    throw new ConfigError(
      'SKERRY_STRIPE_WEBHOOK_SECRET, SKERRY_STRIPE_PRICES: say nothing without SKERRY_STRIPE_SECRET_KEY',
    )
  if (values.SKERRY_STRIPE_SECRET_KEY && !values.SKERRY_STRIPE_WEBHOOK_SECRET)
    throw new ConfigError('SKERRY_STRIPE_WEBHOOK_SECRET: without it, no payment would ever be heard of')
  if (values.SKERRY_SERVER_KEY_PREVIOUS && !values.SKERRY_SERVER_KEY)
    throw new ConfigError('SKERRY_SERVER_KEY_PREVIOUS: says nothing without SKERRY_SERVER_KEY')
  if (!isLoopback(values.SKERRY_HOST) && values.SKERRY_ALLOW_PLAINTEXT !== 'yes')
    throw new ConfigError(
      `SKERRY_HOST: ${values.SKERRY_HOST} is not a loopback address, and the server speaks plain HTTP: bearers would cross ` +
        'that network in the clear. Put TLS in front and set SKERRY_ALLOW_PLAINTEXT=yes',
    )
  return {
    host: values.SKERRY_HOST,
    port: values.SKERRY_PORT,
    baseUrl: values.SKERRY_BASE_URL?.replace(/\/+$/, '') ?? null,
    trustedProxies: values.SKERRY_TRUSTED_PROXIES ?? [],
    databaseUrl: values.SKERRY_DATABASE_URL,
    databasePool: values.SKERRY_DATABASE_POOL,
    databaseSilentMs: values.SKERRY_DATABASE_SILENT_SECONDS * 1000,
    dataDir: values.SKERRY_DATA_DIR,
    serverKey: values.SKERRY_SERVER_KEY,
    serverKeyPrevious: values.SKERRY_SERVER_KEY_PREVIOUS,
    oidc:
      values.SKERRY_OIDC_ISSUER && values.SKERRY_OIDC_AUDIENCE
        ? {
            issuer: values.SKERRY_OIDC_ISSUER,
            audience: values.SKERRY_OIDC_AUDIENCE,
            clientId: values.SKERRY_OIDC_CLIENT_ID ?? values.SKERRY_OIDC_AUDIENCE,
            clientSecret: values.SKERRY_OIDC_CLIENT_SECRET,
          }
        : null,
    privateTargets: values.SKERRY_ALLOW_PRIVATE_TARGETS,
    providerOrigins: values.SKERRY_PROVIDER_ORIGINS,
    adapterProcesses: values.SKERRY_ADAPTER_PROCESSES,
    adapterEnvironment: pick(environment, trustVariables),
    smtpUrl: values.SKERRY_SMTP_URL,
    smtpCleartext: values.SKERRY_SMTP_CLEARTEXT === 'allow' || isLoopback(hostOf(values.SKERRY_SMTP_URL)),
    mailFrom: values.SKERRY_MAIL_FROM,
    resolveCacheBytes: values.SKERRY_RESOLVE_CACHE_MB * 1024 * 1024,
    resolveInFlightBytes: values.SKERRY_RESOLVE_IN_FLIGHT_MB * 1024 * 1024,
    signup: values.SKERRY_SIGNUP ?? (isForThisMachine(values) ? 'open' : 'closed'),
    connectionsPerAddress: values.SKERRY_CONNECTIONS_PER_ADDRESS,
    environmentSecretsMax: values.SKERRY_ENVIRONMENT_SECRETS,
    environmentBytesMax: values.SKERRY_ENVIRONMENT_MB * 1024 * 1024,
    corsOrigins: values.SKERRY_CORS_ORIGINS,
    plansEnforced: values.SKERRY_PLANS === 'enforced',
    stripe:
      values.SKERRY_STRIPE_SECRET_KEY === null
        ? null
        : {
            secretKey: values.SKERRY_STRIPE_SECRET_KEY,
            webhookSecret: values.SKERRY_STRIPE_WEBHOOK_SECRET,
            prices: values.SKERRY_STRIPE_PRICES,
          },
    logLevel: values.SKERRY_LOG_LEVEL,
    rateLimits: values.SKERRY_RATE_LIMITS === 'on',
  }
}

/** Variables that tell Node and OpenSSL the certificate authorities, and the folder for sockets of drivers. */
const trustVariables = ['NODE_EXTRA_CA_CERTS', 'NODE_USE_SYSTEM_CA', 'SSL_CERT_FILE', 'SSL_CERT_DIR', 'TMPDIR'] as const

function pick(environment: Record<string, string | undefined>, names: readonly string[]): Record<string, string> {
  const set = names.map((name) => [name, environment[name]] as const)
  return Object.fromEntries(set.filter((entry): entry is [string, string] => entry[1] !== undefined))
}

function readValues(environment: Record<string, string | undefined>): Values {
  for (const name of Object.keys(environment))
    if (name.startsWith('SKERRY_') && !(name in settings) && !clientVariables.has(name))
      throw new ConfigError(`${name}: no such setting; the page /docs/settings/ of a running server lists them`)
  const read = Object.entries(settings).map(([name, setting]) => {
    const given = environment[name]
    if (given === undefined || given === '') return [name, setting.fallback]
    try {
      return [name, setting.parse(given)]
    } catch (error) {
      throw new ConfigError(`${name}: ${(error as Error).message}`)
    }
  })
  return Object.fromEntries(read)
}

/** Variables of the CLI and of the test suite, which may be set in the same environment. */
const clientVariables = new Set([
  'SKERRY_CRASH_ROUNDS',
  'SKERRY_KEYRING',
  'SKERRY_PASSPHRASE_FILE',
  'SKERRY_POSTGRES_BIN',
  'SKERRY_STRICT',
  'SKERRY_TOKEN',
  'SKERRY_TOKEN_FILE',
  'SKERRY_CLIENT_ID',
  'SKERRY_CLIENT_SECRET',
  'SKERRY_URL',
  'SKERRY_ORG',
  'SKERRY_APP',
  'SKERRY_ENV',
  'SKERRY_BRANCH',
  'SKERRY_ALLOW_INSECURE',
  'SKERRY_PROFILE',
  'SKERRY_PROXY_CONTROL_TOKEN',
  'SKERRY_TASK',
  'SKERRY_REQUIRE_SERVICES',
])

/**
 * True if only this machine can reach the server. Behind a proxy, everyone who reaches the proxy also reaches a
 * loopback address.
 */
function isForThisMachine({ SKERRY_HOST, SKERRY_BASE_URL, SKERRY_TRUSTED_PROXIES }: Values): boolean {
  const shown = SKERRY_BASE_URL === null ? SKERRY_HOST : new URL(SKERRY_BASE_URL).hostname
  return isLoopback(SKERRY_HOST) && isLoopback(shown) && !SKERRY_TRUSTED_PROXIES?.length
}

/** The host of a URL, without the brackets of an IPv6 address. Empty if there is no URL. */
const hostOf = (url: string | null): string =>
  url === null ? '' : new URL(url).hostname.replace(/^\[|\]$/g, '').toLowerCase()
