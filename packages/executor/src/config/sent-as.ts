import { ConfigError, given, matching, object, type Read } from '@skerry/proxy/config/read'
import { isNamed, requestHeaders } from '@skerry/proxy/headers'
import type { SentAs } from './define.ts'

/** RFC 9110 section 5.6.2. */
const word = /^[\w!#$%&'*+.^`|~-]+$/

/** The executor sets these headers itself, or they decide how a body is read. */
const taken = new Set(['accept-encoding', 'content-type'])

const header: Read<string> = (value, place) => {
  const name = matching(word, 'must be the name of a header')(value, place)
  const isDropped = requestHeaders([[name, '']]).length === 0
  if (isDropped || taken.has(name.toLowerCase())) throw new ConfigError(place, `${name} cannot hold a credential`)
  return name
}

const scheme: Read<string> = (value, place) => {
  if (value === '') return ''
  const found = matching(word, 'must be one word')(value, place)
  if (found.toLowerCase() === 'basic')
    throw new ConfigError(place, 'Basic also needs a user name: use a placeholder in each request instead')
  return found
}

const written = object({ header: given(header, 'Authorization'), scheme: given(scheme, undefined) } satisfies Record<
  keyof SentAs,
  unknown
>)

/** The header of a provider's credential, with its default values. */
export const sentAs: Read<Required<SentAs>> = (value, place) => {
  const found = written(value, place)
  return { ...found, scheme: found.scheme ?? (isNamed(found.header, 'authorization') ? 'Bearer' : '') }
}
