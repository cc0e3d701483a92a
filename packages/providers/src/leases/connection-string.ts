import { ProviderError } from '../provider-error.ts'

export interface Admin {
  user: string
  /** Empty if the server identifies the account in another way, for example by its network address. */
  password: string
}

interface Expected {
  protocols: readonly string[]
  host: string
  port: number
  defaultPort: number
  /** Null if the string need not name a database. */
  database: string | null
  /** Whether the server has an account without a name. */
  isUserOptional?: boolean
  /** The only parameters that the string may have, with their only valid values. */
  parameters?: Readonly<Record<string, string>>
}

/**
 * Reads the account of an admin connection string. The rest of the string must match the target’s `connection`. A
 * string with another address would bypass the checks of that address.
 */
export function parseAdmin(connectionString: string, expected: Expected): Admin {
  const refuse = (why: string) => new ProviderError('invalid', `admin connection string: ${why}`)
  const url = parseUrl(connectionString)
  if (!url) throw refuse(`must have the form ${expected.protocols[0]}//user:password@host:port/database`)
  if (url.protocol === 'mongodb+srv:') throw refuse('mongodb+srv is not supported; name one host and port')
  if (!expected.protocols.includes(url.protocol)) throw refuse(`must begin with ${expected.protocols[0]}//`)
  const { parameters = {} } = expected
  for (const [name, value] of url.searchParams)
    if (parameters[name] !== value) throw refuse('must not have parameters; set them in the target’s connection')
  if (url.hash !== '') throw refuse('must not contain #; write it as %23')
  if (bare(url.hostname) !== expected.host.toLowerCase()) throw refuse('has another host than the target’s connection')
  if (Number(url.port || expected.defaultPort) !== expected.port)
    throw refuse('has another port than the target’s connection')
  const database = decode(url.pathname.slice(1))
  if (expected.database !== null && database !== '' && database !== expected.database)
    throw refuse('has another database than the target’s connection')
  const [user, password] = [decode(url.username), decode(url.password)]
  if (user === null || password === null || database === null) throw refuse('is not percent-encoded correctly')
  // If the string names no account, drivers would use a name from the environment of this process.
  if (user === '' && !expected.isUserOptional) throw refuse('has no user name')
  return { user, password }
}

/** `URL` normalizes hosts and ports only for web schemes. It leaves others unchanged. */
function parseUrl(text: string): URL | null {
  return URL.canParse(text.trim()) ? new URL(text.trim()) : null
}

const bare = (hostname: string) => hostname.replace(/^\[|\]$/g, '').toLowerCase()

function decode(text: string): string | null {
  try {
    return decodeURIComponent(text)
  } catch {
    return null
  }
}
