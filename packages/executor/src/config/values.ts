import { isLoopback } from '@skerry/contract/loopback'
import { ConfigError, given, list, matching, needed, type Read, text, whole } from '@skerry/proxy/config/read'

export const hostOf = ({ hostname }: URL): string => hostname.replace(/^\[|\]$/g, '')

export const portOf = ({ port, protocol }: URL): number =>
  port !== '' ? Number(port) : protocol === 'https:' ? 443 : 80

/** Accepts https, and for development on one machine also http on the loopback interface. */
export const url: Read<URL> = (value, place) => {
  const found = URL.parse(text(value, place))
  if (!found || !(found.protocol === 'https:' || (found.protocol === 'http:' && isLoopback(found.hostname))))
    throw new ConfigError(place, 'must be an https:// address')
  if (found.username || found.password) throw new ConfigError(place, 'must not contain a user name or password')
  return found
}

export const origin: Read<string> = (value, place) => {
  const found = url(value, place)
  if (![found.origin, `${found.origin}/`].includes(text(value, place)))
    throw new ConfigError(place, 'must be an origin, such as https://executor.example.com')
  return found.origin
}

export const parameters: Read<Record<string, string>> = (value, place) => {
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    throw new ConfigError(place, 'must be an object')
  return Object.fromEntries(Object.entries(value).map(([name, one]) => [name, text(one, `${place}.${name}`)]))
}

/** An absent list is an empty one. */
export const listed = <T>(read: Read<T>) => given<T[], T[]>(list(read), [])

export const atLeastOne =
  <T>(read: Read<T[]>): Read<T[]> =>
  (value, place) => {
    const found = read(value, place)
    if (found.length === 0) throw new ConfigError(place, 'must not be empty')
    return found
  }

const providerId = matching(
  /^[a-z0-9](?:[a-z0-9_-]{0,62}[a-z0-9])?$/,
  'must be an id of lowercase letters, digits, - and _',
)
export const shown = {
  id: needed(providerId),
  displayName: needed(text),
  consentSummary: needed(text),
  consentVersion: given(whole(1, 2_147_483_647), 1),
}
export const is = <const M extends string>(method: M) =>
  needed<M>((value, place) => {
    if (value !== method) throw new ConfigError(place, `must be ${method}`)
    return method
  })
