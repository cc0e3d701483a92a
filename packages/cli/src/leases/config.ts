import { leaseFacts } from '@skerry/contract/leases/facts'
import type { LeaseConfig, LeaseTag } from '@skerry/contract/leases/providers'
import { vendorName, vendorSlug } from '@skerry/contract/vendors'
import { parseDuration } from '../duration.ts'
import { usage } from '../failure.ts'
import { pageAddress } from '../help/page-address.ts'
import { readTextFile } from '../input.ts'
import { checkTokenId } from '../names.ts'
import { readLeaseProvider } from '../vendors.ts'

export interface ConfigOptions {
  provider?: LeaseTag
  file?: string
  config?: string
  level?: string
  schema?: string
  userHost?: string
  tls?: string
  caFile?: string
  allowCleartextPassword?: boolean
  caPublicKey?: string
  principal?: string[]
  maxTtl?: string
  maxConnections?: string
  provisioner?: string
}

/**
 * Builds the settings of a target from `--config` or the admin credential, and from the options. The server checks
 * whether they make sense, and names the wrong field.
 */
export function buildConfig(adminSecret: string, options: ConfigOptions): LeaseConfig<LeaseTag> {
  const written = options.config === undefined ? {} : readConfig(options.config)
  const provider = options.provider ?? written.provider ?? providerOf(adminSecret)
  if (provider === undefined)
    throw usage('the credential does not show which kind of target this is', 'use --provider, or --config')
  if (typeof provider !== 'string') throw usage('the provider in the file of --config is not text')
  const tag = readLeaseProvider(provider)
  const own = options.config === undefined ? defaults[tag]?.(adminSecret, options) : {}
  if (own === undefined)
    throw usage(
      `a target of ${vendorName(tag)} needs --config`,
      `${pageAddress(`docs/leases/${vendorSlug(tag)}.md`)} describes the file`,
    )
  checkOptions(tag, options)
  return { executor: 'in_broker', ...own, ...written, ...optional(options), provider: tag } as LeaseConfig<LeaseTag>
}

function readConfig(path: string): Record<string, unknown> {
  let parsed: unknown
  try {
    parsed = JSON.parse(readTextFile(path).replace(/^\ufeff/, ''))
  } catch (error) {
    if (error instanceof SyntaxError) throw usage(`${path} is not JSON`)
    throw error
  }
  if (typeof parsed === 'object' && parsed !== null && !Array.isArray(parsed)) return parsed as Record<string, unknown>
  throw usage(`${path} is not a JSON object`)
}

const protocols: Readonly<Record<string, LeaseTag>> = {
  'postgres:': 'postgres',
  'postgresql:': 'postgres',
  'mysql:': 'mysql',
  'mariadb:': 'mysql',
  'redis:': 'redis',
  'rediss:': 'redis',
  'mongodb:': 'mongodb',
}

const parseUrl = (text: string) => (URL.canParse(text) ? new URL(text) : undefined)

function providerOf(adminSecret: string): LeaseTag | undefined {
  if (/^-----BEGIN [A-Z ]*PRIVATE KEY-----/.test(adminSecret)) return 'ssh'
  return protocols[parseUrl(adminSecret)?.protocol ?? '']
}

/** The question for the admin credential. Without `--provider` and `--config`, only a connection string can be typed. */
export function adminQuestion({ provider, config }: Pick<ConfigOptions, 'provider' | 'config'>): string {
  if (provider === undefined && config !== undefined) return 'Admin credential'
  if (provider !== undefined && !Object.hasOwn(ports, provider)) return `Admin credential of ${vendorName(provider)}`
  const database = provider === 'redis' ? '' : '/shop'
  return `Connection string of the admin account, such as ${provider ?? 'postgres'}://skerry:...@db.example.com${database}`
}

const ports = { postgres: 5432, mysql: 3306, redis: 6379, mongodb: 27_017 } as const

/**
 * Makes the settings from the credential and the options, by provider. A provider with too many settings for options is
 * missing.
 */
const defaults: Partial<Record<LeaseTag, (adminSecret: string, options: ConfigOptions) => object>> = {
  postgres: (secret, { schema = 'public', ...options }) => ({ ...database('postgres', secret, options), schema }),
  mysql: (secret, { userHost = '%', ...options }) => ({ ...database('mysql', secret, options), userHost }),
  redis: (secret, options) => database('redis', secret, options),
  mongodb: (secret, options) => database('mongodb', secret, options),
  ssh: (_, { file, caPublicKey, principal }) => {
    const path = caPublicKey ?? (file === undefined || file === '-' ? undefined : `${file}.pub`)
    if (path === undefined) throw usage('the public key of the authority is needed', 'use --ca-public-key <path>')
    const allowed = principal === undefined ? {} : { allowedPrincipals: principal }
    return { caPublicKey: readTextFile(path).trim(), ...allowed }
  },
}

function database(provider: keyof typeof ports, secret: string, options: ConfigOptions) {
  const { level = 'readonly', tls, caFile, allowCleartextPassword } = options
  const url = parseUrl(secret)
  if (!url) throw usage('the admin credential is not a connection string', leaseFacts[provider].adminSecret)
  const name = decodeURIComponent(url.pathname.slice(1))
  if (name === '' && provider !== 'redis') throw usage('the admin connection string has no database name')
  const place = provider === 'redis' ? (name === '' ? {} : { db: Number(name) }) : { database: name }
  const security = {
    ...(tls === undefined ? {} : { tls }),
    ...(caFile === undefined ? {} : { caCertificate: readTextFile(caFile) }),
    ...(allowCleartextPassword === undefined ? {} : { allowCleartextPassword }),
  }
  const host = url.hostname.replace(/^\[|\]$/g, '')
  const address = { host, port: Number(url.port || ports[provider]), ...place }
  // MongoDB has `tls` beside its connection, not in it.
  if (provider === 'mongodb') {
    const { tls: mode, ...rest } = security
    return { connection: { ...address, ...rest }, accessLevel: level, ...(mode === undefined ? {} : { tls: mode }) }
  }
  return { connection: { ...address, ...security }, accessLevel: level }
}

const optional = ({ maxTtl, maxConnections, provisioner }: ConfigOptions) => ({
  ...(maxTtl === undefined ? {} : { maxTtlSeconds: parseDuration(maxTtl, '--max-ttl') }),
  ...(maxConnections === undefined ? {} : { maxConnections: parseMaxConnections(maxConnections) }),
  ...(provisioner === undefined ? {} : { executor: 'provisioner', provisionerTokenId: checkTokenId(provisioner) }),
})

/** Refuses values that no kind of target takes, before the session is opened. */
export function checkConfig({ maxTtl, maxConnections, tls }: ConfigOptions): void {
  if (maxTtl !== undefined) parseDuration(maxTtl, '--max-ttl')
  if (maxConnections !== undefined) parseMaxConnections(maxConnections)
  if (tls !== undefined && !tlsModes.includes(tls))
    throw usage(`--tls must be ${tlsModes.join(', ')} (you gave '${tls}')`)
}

const tlsModes = ['disable', 'require', 'verify-full']

function parseMaxConnections(text: string): number {
  if (/^[1-9]\d{0,4}$/.test(text)) return Number(text)
  throw usage(`--max-connections must be a whole number, 1 or more (you gave '${text}')`)
}

/**
 * Maps each option to the providers that have such a setting. For other providers the option is refused and not
 * ignored.
 */
const meant = {
  level: ['postgres', 'mysql', 'redis', 'mongodb'],
  maxConnections: ['postgres', 'mysql'],
  schema: ['postgres'],
  userHost: ['mysql'],
  tls: ['postgres', 'mysql', 'redis', 'mongodb'],
  caFile: ['postgres', 'mysql', 'redis', 'mongodb'],
  allowCleartextPassword: ['postgres', 'mysql'],
  caPublicKey: ['ssh'],
  principal: ['ssh'],
} as const

function checkOptions(tag: LeaseTag, options: ConfigOptions): void {
  for (const [name, tags] of Object.entries(meant)) {
    if (options[name as keyof typeof meant] === undefined) continue
    const option = `--${name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`
    if (options.config !== undefined) throw usage(`${option} and --config cannot be used together`)
    if (!(tags as readonly string[]).includes(tag))
      throw usage(`${option} has no effect on a target of ${vendorName(tag)}`)
  }
}
