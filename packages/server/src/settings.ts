import { isIP } from 'node:net'
import { findPlan } from '@skerry/contract/billing/plans'
import { limits } from '@skerry/contract/limits'

/** One row of the settings table: `docs/operations.md` shows it and the start of the server checks it. */
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
  help: 'postgres://...; unset: the embedded database in SKERRY_DATA_DIR',
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
  help: 'Addresses or CIDR ranges, comma-separated, whose X-Forwarded-For is believed: the proxy in front, on this host too (loopback)',
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
  help: 'Addresses or CIDR ranges, comma-separated, of inner networks that targets of users may stand in (databases, collectors); plain HTTP is for these alone. Unset: public addresses only',
}

/** Alternative origins for the calls of a provider, by its tag. Error messages name only the tag. */
const providerOrigins: Setting<Record<string, string>> = {
  fallback: {},
  parse: (value) => {
    const origins = parseJson(value)
    if (typeof origins !== 'object' || origins === null || Array.isArray(origins))
      throw new Error('must be a JSON object of provider tags and origins')
    for (const [tag, origin] of Object.entries(origins))
      if (!/^[a-z][a-z0-9-]*$/.test(tag) || typeof origin !== 'string' || !isOrigin(origin))
        throw new Error(`${JSON.stringify(tag)} must be a provider tag with an origin such as https://api.example.com`)
    return origins as Record<string, string>
  },
  help: 'JSON object: provider tag to the origin that its calls go to instead, such as {"cloud-a":"https://sts.internal"}',
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
  help: 'Origins, comma-separated, or *: pages from where a browser may call the API with a bearer, never with cookies',
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
  help: 'JSON object: plan to its price at Stripe, such as {"platform.team":"price_..."}',
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
  SKERRY_PORT: integer(4700, 0, 65_535, 'Port to listen on; 0 takes a free one'),
  SKERRY_BASE_URL: address(['http:', 'https:'], 'Address that links show; from host and port unless set'),
  SKERRY_ALLOW_PLAINTEXT: oneOf(
    'no',
    ['no', 'yes'],
    'yes: listen on a non-loopback address although TLS ends elsewhere (credentials cross that network in the clear)',
  ),
  SKERRY_TRUSTED_PROXIES: trustedProxies,
  SKERRY_DATABASE_URL: databaseUrl,
  SKERRY_DATA_DIR: { fallback: './.skerry', parse: text, help: 'Where the embedded database and the outbox live' },
  SKERRY_DATABASE_POOL: integer(
    10,
    3,
    200,
    'Connections to PostgreSQL for ordinary work; one of them writes secrets. Up to eight more serve heavy reads, token look-ups, `/ready`, cache updates and looks at a silent database',
  ),
  SKERRY_DATABASE_SILENT_SECONDS: integer(
    2,
    1,
    30,
    'Seconds without an answer from PostgreSQL after which a new connection looks; connections that died in silence are then closed',
  ),
  SKERRY_SERVER_KEY: keyOf32Bytes(
    '32 bytes base64url that seal what signs sessions and keys that the server holds; unset: made once as server.key in the data directory, with PostgreSQL nobody can sign in',
  ),
  SKERRY_SERVER_KEY_PREVIOUS: keyOf32Bytes(
    'Another server key that opens what it has sealed, while one takes the place of the other; seals nothing',
  ),
  SKERRY_OIDC_ISSUER: address(['http:', 'https:'], 'Issuer of the session tokens of people'),
  SKERRY_OIDC_AUDIENCE: optional('Audience that those tokens must name'),
  SKERRY_OIDC_CLIENT_ID: optional('Client that browsers sign in as at the issuer; the audience unless set'),
  SKERRY_OIDC_CLIENT_SECRET: optional('Secret of that client, where the issuer asks for one'),
  SKERRY_SMTP_URL: address(
    ['smtp:', 'smtps:'],
    'smtp://... or smtps://.... If unset, mails are written into the outbox folder of the data directory. smtp:// requires STARTTLS, except on a loopback address',
  ),
  SKERRY_SMTP_CLEARTEXT: oneOf(
    'refuse',
    ['refuse', 'allow'],
    'allow: send mails through smtp:// without TLS if the SMTP server offers no STARTTLS. The password and sign-in links then cross the network unencrypted',
  ),
  SKERRY_ALLOW_PRIVATE_TARGETS: privateTargets,
  SKERRY_PROVIDER_ORIGINS: providerOrigins,
  SKERRY_ADAPTER_PROCESSES: integer(
    4,
    2,
    64,
    'Processes that connect to the targets of leases and rotation. One organization uses at most half of them. Each takes up to 256 MiB, and ends after a minute without work',
  ),
  SKERRY_MAIL_FROM: { fallback: 'Skerry <skerry@localhost>', parse: text, help: 'Sender of mails' },
  SKERRY_RESOLVE_CACHE_MB: integer(64, 0, 4096, 'Memory for answers of resolve; 0 keeps none, and only who a token is'),
  SKERRY_RESOLVE_IN_FLIGHT_MB: integer(
    128,
    1,
    65_536,
    'Memory for large answers of resolve that callers have yet to take; one caller has a quarter',
  ),
  SKERRY_SIGNUP: {
    fallback: null,
    parse: oneOf('closed', ['open', 'closed'], '').parse,
    help: '`open` lets anyone who reaches this server make organizations (`POST /v1/signup`); unless set, `open` on a loopback address with no proxy and no public address set, else `closed`',
  } as Setting<'open' | 'closed' | null>,
  SKERRY_LOG_LEVEL: oneOf('info', ['silent', 'error', 'warn', 'info', 'debug'], 'How much is logged, as JSON lines'),
  SKERRY_CONNECTIONS_PER_ADDRESS: integer(
    512,
    8,
    1_000_000,
    'Connections that an address, or an IPv6 /64 network, may have open; a trusted proxy any number',
  ),
  SKERRY_ENVIRONMENT_SECRETS: integer(
    limits.rekeySecretsMax,
    1,
    limits.rekeySecretsMax,
    'Secrets that an environment may hold; as many as a re-key takes, unless set lower',
  ),
  SKERRY_ENVIRONMENT_MB: integer(32, 1, 48, 'Mebibytes of ciphertext that an environment may hold'),
  SKERRY_CORS_ORIGINS: corsOrigins,
  SKERRY_PLANS: oneOf(
    'informational',
    ['informational', 'enforced'],
    'enforced: an organization has what its plan includes and no more; else limits are shown and hold nobody back',
  ),
  SKERRY_STRIPE_SECRET_KEY: optional('Secret key of the Stripe account that sells plans; unset: nothing is sold'),
  SKERRY_STRIPE_WEBHOOK_SECRET: optional('Secret that Stripe signs events to `/webhooks/stripe` with'),
  SKERRY_STRIPE_PRICES: stripePrices,
  SKERRY_RATE_LIMITS: oneOf(
    'on',
    ['on', 'off'],
    'Rate limits, per principal and per address, or /64 network where that is IPv6',
  ),
} as const

type Settings = typeof settings

/** The values of all settings, given or default. */
export type Values = { [K in keyof Settings]: ReturnType<Settings[K]['parse']> | Settings[K]['fallback'] }
