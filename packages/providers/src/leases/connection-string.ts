import { ProviderError } from '../provider-error.ts'

export interface Admin {
  user: string
  /** Empty where the server knows the account otherwise, for example by the address that it comes from. */
  password: string
}

interface Expected {
  protocols: readonly string[]
  host: string
  port: number
  defaultPort: number
  /** Null where the string need not name one. */
  database: string | null
  /** Whether there is an account without a name. */
  isUserOptional?: boolean
  /** What it may say beside, with the only values that are right. */
  parameters?: Readonly<Record<string, string>>
}

/**
 * The account of an admin connection string. What else it says must be what the target’s `connection` says: a string that
 * leads elsewhere would be a way around the checks of that address.
 */
export function parseAdmin(connectionString: string, expected: Expected): Admin {
  const refuse = (why: string) => new ProviderError('invalid', `admin connection string: ${why}`)
  const url = parseUrl(connectionString)
  if (!url) throw refuse(`is not of the form ${expected.protocols[0]}//user:password@host:port/database`)
  if (url.protocol === 'mongodb+srv:') throw refuse('mongodb+srv is not supported; name one host and port')
  if (!expected.protocols.includes(url.protocol)) throw refuse(`does not begin with ${expected.protocols[0]}//`)
  const { parameters = {} } = expected
  for (const [name, value] of url.searchParams)
    if (parameters[name] !== value)
      throw refuse('has parameters; leave them out, the target’s connection says how to connect')
  if (url.hash !== '') throw refuse('has a fragment; encode # as %23')
  if (bare(url.hostname) !== expected.host.toLowerCase())
    throw refuse('names another host than the target’s connection')
  if (Number(url.port || expected.defaultPort) !== expected.port)
    throw refuse('names another port than the target’s connection')
  const database = decode(url.pathname.slice(1))
  if (expected.database !== null && database !== '' && database !== expected.database)
    throw refuse('names another database than the target’s connection')
  const [user, password] = [decode(url.username), decode(url.password)]
  if (user === null || password === null || database === null) throw refuse('is not percent-encoded correctly')
  // Drivers would take a name from the environment of this process.
  if (user === '' && !expected.isUserOptional) throw refuse('names no account')
  return { user, password }
}

/** `URL` knows hosts and ports of the schemes of the web alone, and takes others as they are. */
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
