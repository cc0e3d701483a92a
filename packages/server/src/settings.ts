import { isIP } from 'node:net'
import { findPlan } from '@skerry/contract/billing/plans'
import { limits } from '@skerry/contract/limits'
import { vendors, vendorTag } from '@skerry/contract/vendors'

/** One row of the settings table: `docs/settings.md` shows it and the start of the server checks it. */
interface Setting<T> {
  fallback: T
  parse: (text: string) => T
  help: string
}

const text: (value: string) => string = (value) => value
const optional = (help: string): Setting<string | null> => ({ fallback: null, parse: text, help })

function oneOf<const T extends string>(fallback: T, values: readonly T[], help: string): Setting<T> {
  const parse = (value: string): T => {
    const found = values.find((candidate) => candidate === value)
    if (found === undefined) throw new Error(`must be one of ${values.join(', ')}`)
    return found
  }
  return { fallback, parse, help }
}

function integer(fallback: number, min: number, max: number, help: string): Setting<number> {
  const parse = (value: string) => {
    const number = /^\d{1,15}$/.test(value) ? Number(value) : Number.NaN
    if (!Number.isInteger(number) || number < min || number > max)
      throw new Error(`must be a whole number from ${min} to ${max}`)
    return number
  }
  return { fallback, parse, help }
}

/** A URL. The error message does not repeat it, because it may contain a password. */
function address(schemes: readonly string[], help: string): Setting<string | null> {
  const starts = schemes.map((scheme) => `${scheme}//`)
  const parse = (value: string) => {
    const sound =
      starts.some((start) => value.startsWith(start)) && URL.canParse(value) && /^[\u0021-\u007e]+$/.test(value)
    if (!sound) throw new Error(`must be an address that starts with ${starts.join(' or ')}`)
    return value
  }
  return { fallback: null, parse, help }
}

/**
 * An unencoded `/`, `?` or `#` in a password ends the host there. The rest of the password would become a path, which
 * logs show.
 */
const databaseUrl: Setting<string | null> = {
  fallback: null,
  parse: (value) => {
    if (!/^postgres(ql)?:\/\//.test(value)) throw new Error('must start with postgres://')
    if (/:\/\/[^/?#]*[/?#].*@/s.test(value))
      throw new Error(
        'has an @ behind the host: percent-encode what is special in the password (/ is %2F, ? is %3F, # is %23, @ is %40)',
      )
    return value
  },
  help: 'URL of a PostgreSQL database, postgres://.... If unset, the server uses its embedded database in SKERRY_DATA_DIR',
}

/**
 * Fastify uses these ranges. It would refuse an invalid one later, after the migration of the database, and without the
 * name of the setting.
 */
const trustedProxies: Setting<string[] | null> = {
  fallback: null,
  parse: (value) => {
    const ranges = value.split(',').flatMap((range) => range.trim() || [])
    if (!ranges.every(isRange)) throw new Error('must be addresses or CIDR ranges such as 10.0.0.0/8, comma-separated')
    return ranges
  },
  help: 'Addresses or CIDR ranges of the reverse proxies in front of the server, comma-separated. The server believes the X-Forwarded-For of these proxies. Name a proxy on this host, too: `loopback`',
}

/** Names of address ranges that Fastify knows. */
const namedRanges = ['loopback', 'linklocal', 'uniquelocal']

function isRange(range: string): boolean {
  const [, address = '', bits = '1'] = /^([^/]+)(?:\/(\d+))?$/.exec(range) ?? []
  const bitsMax = isIP(address) === 4 ? 32 : 128
  return namedRanges.includes(range) || (isIP(address) !== 0 && Number(bits) >= 1 && Number(bits) <= bitsMax)
}

/** Internal networks that outbound connections may reach. */
const privateTargets: Setting<string[]> = {
  fallback: [],
  parse: (value) => {
    const ranges = value.split(',').flatMap((range) => range.trim() || [])
    if (!ranges.every((range) => isRange(range) && !namedRanges.includes(range) && !range.includes('%')))
      throw new Error('must be addresses or CIDR ranges such as 10.0.0.0/8, comma-separated')
    return ranges
  },
  help: 'Addresses or CIDR ranges of private networks that users may connect the server to, comma-separated, for example for databases and collectors. Plain HTTP is allowed only in these networks. If unset, only public addresses are allowed',
}

/**
 * Alternative origins for the calls of a provider, by its tag. The operator writes the vendor's slug. Error messages do
 * not repeat the origin.
 */
const providerOrigins: Setting<Record<string, string>> = {
  fallback: {},
  parse: (value) => {
    const origins = parseJson(value)
    if (typeof origins !== 'object' || origins === null || Array.isArray(origins))
      throw new Error('must be a JSON object of providers and origins')
    const byTag: Record<string, string> = {}
    for (const [provider, origin] of Object.entries(origins)) {
      const tag = vendorTag(provider, vendors) ?? provider
      if (!/^[a-z][a-z0-9-]*$/.test(tag) || typeof origin !== 'string' || !isOrigin(origin))
        throw new Error(`${JSON.stringify(provider)} must be a provider with an origin such as https://api.example.com`)
      if (Object.hasOwn(byTag, tag)) throw new Error(`${JSON.stringify(provider)} is a provider that is already named`)
      byTag[tag] = origin
    }
    return byTag
  },
  help: 'Other origins for the calls of providers, as a JSON object: {"aws":"https://sts.internal"}. Providers are named as in `skerry sync connect` and `skerry lease target`',
}

/** Origins whose pages may call the API with their own bearer token. */
const corsOrigins: Setting<'*' | readonly string[]> = {
  fallback: [],
  parse: (value) => {
    if (value.trim() === '*') return '*'
    const origins = value.split(',').flatMap((origin) => origin.trim() || [])
    if (!origins.every(isOrigin))
      throw new Error('must be * or origins such as https://app.example.com, comma-separated')
    return origins
  },
  help: 'Origins of other pages that may call the API from a browser, comma-separated, or *. A page of a listed origin may send a bearer token, never cookies',
}

/** The Stripe price of each plan that is sold. */
const stripePrices: Setting<Record<string, string>> = {
  fallback: {},
  parse: (value) => {
    const prices = parseJson(value)
    if (typeof prices !== 'object' || prices === null || Array.isArray(prices))
      throw new Error('must be a JSON object of plans and prices')
    for (const [plan, price] of Object.entries(prices)) {
      const [family = '', id = ''] = plan.split('.')
      if (!findPlan(family, id) || plan !== `${family}.${id}`)
        throw new Error(`${JSON.stringify(plan)} is no plan such as platform.team`)
      if (typeof price !== 'string' || !/^price_\w+$/.test(price)) throw new Error(`${plan} must be a price_...`)
    }
    return prices as Record<string, string>
  },
  help: 'The price of each plan at Stripe, as a JSON object: {"platform.team":"price_..."}',
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

const isOrigin = (text: string): boolean => /^https?:/.test(text) && URL.parse(text)?.origin === text

/** A key is checked at start, so that an invalid one is not discovered only when it is needed. */
const keyOf32Bytes = (help: string): Setting<string | null> => ({
  fallback: null,
  parse: (value) => {
    if (!/^[A-Za-z0-9_-]{43}$/.test(value)) throw new Error('must be 32 bytes as base64url, 43 characters')
    return value
  },
  help,
})

/** Every setting of the server, by the name of its environment variable. */
export const settings = {
  SKERRY_HOST: { fallback: '127.0.0.1', parse: text, help: 'Address to listen on' },
  SKERRY_PORT: integer(4700, 0, 65_535, 'Port to listen on. 0 picks a free port'),
  SKERRY_BASE_URL: address(
    ['http:', 'https:'],
    'Public address of the server, used in links. If unset, host and port are used',
  ),
  SKERRY_ALLOW_PLAINTEXT: oneOf(
    'no',
    ['no', 'yes'],
    '`yes` allows the server to listen on a non-loopback address without TLS. Credentials then cross that network unencrypted',
  ),
  SKERRY_TRUSTED_PROXIES: trustedProxies,
  SKERRY_DATABASE_URL: databaseUrl,
  SKERRY_DATA_DIR: {
    fallback: './.skerry',
    parse: text,
    help: 'Folder of the embedded database, the outbox and server.key',
  },
  SKERRY_DATABASE_POOL: integer(
    10,
    3,
    200,
    'Connections to PostgreSQL for ordinary work, one of which is for grouped writes of secrets. Up to eight more are for heavy reads, token look-ups, `/ready`, cache updates and checks of a silent database',
  ),
  SKERRY_DATABASE_SILENT_SECONDS: integer(
    2,
    1,
    30,
    'If PostgreSQL does not answer for this many seconds, the server checks with a new connection. The server then closes connections that died without notice',
  ),
  SKERRY_SERVER_KEY: keyOf32Bytes(
    '32-byte key (base64url) that encrypts the server’s own keys. If unset, the server generates the key as server.key in the data directory. With PostgreSQL this setting is required: without the key nobody can sign in',
  ),
  SKERRY_SERVER_KEY_PREVIOUS: keyOf32Bytes(
    'The previous server key, while you replace the key. The previous key decrypts and does not encrypt',
  ),
  SKERRY_OIDC_ISSUER: address(
    ['http:', 'https:'],
    'Issuer (OIDC) of the session tokens of people. If unset, Skerry signs people in itself',
  ),
  SKERRY_OIDC_AUDIENCE: optional('Audience that session tokens of the issuer must name'),
  SKERRY_OIDC_CLIENT_ID: optional('Client id for sign-ins of browsers at the issuer. If unset, the audience is used'),
  SKERRY_OIDC_CLIENT_SECRET: optional('Client secret, if the issuer requires one'),
  SKERRY_SMTP_URL: address(
    ['smtp:', 'smtps:'],
    'SMTP server, smtp://... or smtps://.... If unset, mails are written into the outbox folder of the data directory. smtp:// requires STARTTLS, except on a loopback address',
  ),
  SKERRY_SMTP_CLEARTEXT: oneOf(
    'refuse',
    ['refuse', 'allow'],
    '`allow` sends mails through smtp:// without TLS if the SMTP server offers no STARTTLS. The password and sign-in links then cross the network unencrypted',
  ),
  SKERRY_ALLOW_PRIVATE_TARGETS: privateTargets,
  SKERRY_PROVIDER_ORIGINS: providerOrigins,
  SKERRY_ADAPTER_PROCESSES: integer(
    4,
    2,
    64,
    'Processes that connect to the targets of leases and rotation. One organization uses at most half of these processes. Each process takes up to 256 MiB, and ends after a minute without work',
  ),
  SKERRY_MAIL_FROM: { fallback: 'Skerry <skerry@localhost>', parse: text, help: 'Sender address of mails' },
  SKERRY_RESOLVE_CACHE_MB: integer(64, 0, 4096, 'Memory for cached answers of resolve, in MB. 0 caches tokens only'),
  SKERRY_RESOLVE_IN_FLIGHT_MB: integer(
    128,
    1,
    65_536,
    'Memory for large answers of resolve that callers have not read yet, in MB. One caller may use a quarter of this memory',
  ),
  SKERRY_SIGNUP: {
    fallback: null,
    parse: oneOf('closed', ['open', 'closed'], '').parse,
    help: '`open` lets anyone who can reach the server create organizations. If unset, it is `open` on a loopback address without a proxy or a public address, and `closed` otherwise',
  } as Setting<'open' | 'closed' | null>,
  SKERRY_LOG_LEVEL: oneOf(
    'info',
    ['silent', 'error', 'warn', 'info', 'debug'],
    'Least severity of log lines, which are JSON',
  ),
  SKERRY_CONNECTIONS_PER_ADDRESS: integer(
    512,
    8,
    1_000_000,
    'Open connections that one IP address (IPv6: one /64 network) may have. Trusted proxies have no limit',
  ),
  SKERRY_ENVIRONMENT_SECRETS: integer(
    limits.rekeySecretsMax,
    1,
    limits.rekeySecretsMax,
    'Largest number of secrets in an environment. A re-key cannot send more secrets than the default',
  ),
  SKERRY_ENVIRONMENT_MB: integer(32, 1, 48, 'Largest size of an environment’s ciphertext, in MiB'),
  SKERRY_CORS_ORIGINS: corsOrigins,
  SKERRY_PLANS: oneOf(
    'informational',
    ['informational', 'enforced'],
    '`enforced` refuses what exceeds the plan of an organization. `informational` only shows the limits',
  ),
  SKERRY_STRIPE_SECRET_KEY: optional('Secret key of the Stripe account that sells plans. If unset, plans are not sold'),
  SKERRY_STRIPE_WEBHOOK_SECRET: optional('Secret with which Stripe signs events to `/webhooks/stripe`'),
  SKERRY_STRIPE_PRICES: stripePrices,
  SKERRY_RATE_LIMITS: oneOf(
    'on',
    ['on', 'off'],
    'Rate limits for each principal and each IP address (IPv6: each /64 network)',
  ),
} as const

type Settings = typeof settings

/** The values of all settings, given or default. */
export type Values = { [K in keyof Settings]: ReturnType<Settings[K]['parse']> | Settings[K]['fallback'] }
