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
  help: 'URL of a PostgreSQL database, such as `postgres://user:password@host/database`. If unset, the server uses its embedded database in `SKERRY_DATA_DIR`',
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
  help: 'Addresses or CIDR ranges of the reverse proxies in front of the server, comma-separated. The server takes the address of a caller from the header `X-Forwarded-For` of these proxies. For a proxy on the same host, write `loopback`',
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
  help: 'Addresses or CIDR ranges of private networks, comma-separated. When people in an organization configure a connection, for example to their database or log collector, the server may connect to these networks. The server may use plain HTTP only in these networks, and never for webhooks. If unset, the server connects only to public addresses',
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
  help: 'Origins that the server calls in place of the usual API of a provider, as a JSON object: `{"aws":"https://sts.internal"}`. The names of the providers are those of `skerry sync providers`, and of the option `--provider` of `skerry lease target create`',
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
  help: 'Origins of other websites whose pages may call the API from a browser, comma-separated. `*` allows all origins. Such a page can authenticate with a bearer token, but not with cookies',
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
  help: 'The id of the Stripe price of each plan, as a JSON object: `{"platform.team":"price_..."}`',
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
  SKERRY_HOST: { fallback: '127.0.0.1', parse: text, help: 'Address on which the server listens' },
  SKERRY_PORT: integer(4700, 0, 65_535, 'Port on which the server listens. With `0`, the server chooses a free port'),
  SKERRY_BASE_URL: address(
    ['http:', 'https:'],
    'Public URL of the server, for links in mails and pages. If unset, the server makes the URL from `SKERRY_HOST` and `SKERRY_PORT`',
  ),
  SKERRY_ALLOW_PLAINTEXT: oneOf(
    'no',
    ['no', 'yes'],
    'The server always speaks plain HTTP, without TLS. With `no`, it starts only if `SKERRY_HOST` is a loopback address. With `yes`, set up TLS in front of the server, because without TLS credentials cross the network unencrypted',
  ),
  SKERRY_TRUSTED_PROXIES: trustedProxies,
  SKERRY_DATABASE_URL: databaseUrl,
  SKERRY_DATA_DIR: {
    fallback: './.skerry',
    parse: text,
    help: 'Folder of the embedded database and of the file `server.key`. Without an SMTP server, it also contains the mails (`outbox`)',
  },
  SKERRY_DATABASE_POOL: integer(
    10,
    3,
    200,
    'Largest number of connections to PostgreSQL for ordinary requests. The server opens up to eight more connections, for example for searches of the audit log, `/ready` and cache updates',
  ),
  SKERRY_DATABASE_SILENT_SECONDS: integer(
    2,
    1,
    30,
    'If PostgreSQL does not answer a query for this many seconds, the server opens a new connection to test the database. If the database answers the test, the server closes the connections that no longer work',
  ),
  SKERRY_SERVER_KEY: keyOf32Bytes(
    '32-byte key (base64url) that encrypts the server’s own keys. If unset, a server with the embedded database makes a key and stores it as `server.key` in `SKERRY_DATA_DIR`. With PostgreSQL, set this key, because without it people cannot sign in with the built-in sign-in',
  ),
  SKERRY_SERVER_KEY_PREVIOUS: keyOf32Bytes(
    'The old server key, while you replace `SKERRY_SERVER_KEY`. The server decrypts with the old key, and encrypts with the new key',
  ),
  SKERRY_OIDC_ISSUER: address(
    ['http:', 'https:'],
    'URL of your OpenID Connect provider (issuer), at which people sign in. If unset, people sign in with the built-in sign-in of the server',
  ),
  SKERRY_OIDC_AUDIENCE: optional(
    'Audience (`aud`) that a session token of the issuer must have if a program presents the token as a bearer token. Required with `SKERRY_OIDC_ISSUER`. For sign-ins in a browser, the audience must be `SKERRY_OIDC_CLIENT_ID`',
  ),
  SKERRY_OIDC_CLIENT_ID: optional(
    'Client id of the server at the issuer, for sign-ins in a browser. If unset, the server uses `SKERRY_OIDC_AUDIENCE`',
  ),
  SKERRY_OIDC_CLIENT_SECRET: optional('Client secret of the server at the issuer, if the issuer requires one'),
  SKERRY_SMTP_URL: address(
    ['smtp:', 'smtps:'],
    'URL of the SMTP server, `smtp://...` or `smtps://...`. `smtp://` requires STARTTLS, except on a loopback address or with `SKERRY_SMTP_CLEARTEXT=allow`. If unset, the server sends no mails, and writes them into the folder `outbox` of `SKERRY_DATA_DIR`',
  ),
  SKERRY_SMTP_CLEARTEXT: oneOf(
    'refuse',
    ['refuse', 'allow'],
    'With `allow`, the server sends mails without TLS if an SMTP server with `smtp://` offers no STARTTLS. The SMTP password and sign-in links then cross the network unencrypted',
  ),
  SKERRY_ALLOW_PRIVATE_TARGETS: privateTargets,
  SKERRY_PROVIDER_ORIGINS: providerOrigins,
  SKERRY_ADAPTER_PROCESSES: integer(
    4,
    2,
    64,
    'Number of child processes that connect to databases and other targets for leases and rotation. One organization can use at most half of these processes. Each process takes up to 256 MiB of memory, and ends after a minute without work',
  ),
  SKERRY_MAIL_FROM: { fallback: 'Skerry <skerry@localhost>', parse: text, help: 'Sender address of mails' },
  SKERRY_RESOLVE_CACHE_MB: integer(
    64,
    0,
    4096,
    'Memory, in MiB, for cached responses with the secrets of an environment. With `0`, the server caches only tokens',
  ),
  SKERRY_RESOLVE_IN_FLIGHT_MB: integer(
    128,
    1,
    65_536,
    'Memory, in MiB, that large responses with secrets may use while callers receive them. One caller may use at most a quarter of this memory',
  ),
  SKERRY_SIGNUP: {
    fallback: null,
    parse: oneOf('closed', ['open', 'closed'], '').parse,
    help: 'With `open`, anyone who can reach the server can create an organization. With `closed`, only people with an account, or with the set-up link, can create an organization. If unset, signing up is open only if `SKERRY_HOST` and `SKERRY_BASE_URL` are unset or loopback addresses, and `SKERRY_TRUSTED_PROXIES` is unset',
  } as Setting<'open' | 'closed' | null>,
  SKERRY_LOG_LEVEL: oneOf(
    'info',
    ['silent', 'error', 'warn', 'info', 'debug'],
    'Lowest severity of the lines in the log: `debug`, `info`, `warn` or `error`. `silent` turns the log off, but the server still prints the set-up link. Each line is a JSON object',
  ),
  SKERRY_CONNECTIONS_PER_ADDRESS: integer(
    512,
    8,
    1_000_000,
    'Largest number of open connections from one IP address (IPv6: from one /64 network). Trusted proxies have no limit',
  ),
  SKERRY_ENVIRONMENT_SECRETS: integer(
    limits.rekeySecretsMax,
    1,
    limits.rekeySecretsMax,
    'Largest number of secrets in an environment. The default is also the highest number allowed, because a re-key (a new key for the environment) must send all secrets in one request',
  ),
  SKERRY_ENVIRONMENT_MB: integer(32, 1, 48, 'Largest size of the encrypted secrets of one environment, in MiB'),
  SKERRY_CORS_ORIGINS: corsOrigins,
  SKERRY_PLANS: oneOf(
    'informational',
    ['informational', 'enforced'],
    'With `enforced`, the server refuses requests that would exceed the plan of an organization. With `informational`, it only shows the limits of the plan',
  ),
  SKERRY_STRIPE_SECRET_KEY: optional(
    'Secret key of the Stripe account that receives the payments for plans. If unset, nobody can buy a plan',
  ),
  SKERRY_STRIPE_WEBHOOK_SECRET: optional(
    'Secret with which Stripe signs the events that it sends to `/webhooks/stripe`. Required with `SKERRY_STRIPE_SECRET_KEY`',
  ),
  SKERRY_STRIPE_PRICES: stripePrices,
  SKERRY_RATE_LIMITS: oneOf(
    'on',
    ['on', 'off'],
    'With `on`, the server limits the requests of each caller and each IP address (IPv6: each /64 network), and the number of invitations and requests for access. `off` turns these limits off, but not the limits of tries of sign-ins, codes and second factors, of mails with sign-in links, and of reminders in offboardings',
  ),
} as const

type Settings = typeof settings

/** The values of all settings, given or default. */
export type Values = { [K in keyof Settings]: ReturnType<Settings[K]['parse']> | Settings[K]['fallback'] }
