import { CryptoError } from './errors.ts'

/** What a placeholder's name stands for at this place: a value, a name that may not be injected, or nothing. */
export type PlaceholderLookup = (name: string) => { value: string } | 'denied' | 'unknown'

/** The text to send, and the names whose values are in it, sorted, each once. */
export interface Substituted {
  text: string
  names: string[]
}

/** The published marker, `{{seekrit:NAME}}`: a name on the wire, shared with every client of the format. */
const opener = '{{seekrit:'

/** Wider than the grammar of references: a name may start with a digit. */
const namePattern = /([A-Za-z0-9_]+)\}\}/y

/**
 * Replaces every `{{seekrit:NAME}}` by its value. All or nothing: a name that is denied or unknown refuses the whole
 * text, so that nothing leaves with a placeholder unfilled. Malformed and unterminated markers are ordinary text; a
 * substituted value is never scanned again.
 *
 * @throws CryptoError `placeholder_denied` or `placeholder_unresolved`, with the name in `subject`.
 * @example
 * substitute('Bearer {{seekrit:API_KEY}}', () => ({ value: 'sk-live' })).text // 'Bearer sk-live'
 */
export function substitute(text: string, lookup: PlaceholderLookup): Substituted {
  const names = new Set<string>()
  let out = ''
  let from = 0
  for (let at = text.indexOf(opener); at !== -1; at = text.indexOf(opener, from)) {
    namePattern.lastIndex = at + opener.length
    const name = namePattern.exec(text)?.[1]
    const end = name === undefined ? at + opener.length : namePattern.lastIndex
    out += text.slice(from, at) + (name === undefined ? opener : fill(name, lookup))
    if (name !== undefined) names.add(name)
    from = end
  }
  return { text: out + text.slice(from), names: [...names].sort() }
}

function fill(name: string, lookup: PlaceholderLookup): string {
  const found = lookup(name)
  if (found === 'denied') throw new CryptoError('placeholder_denied', undefined, name)
  if (found === 'unknown') throw new CryptoError('placeholder_unresolved', undefined, name)
  return found.value
}
