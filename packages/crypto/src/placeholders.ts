import { CryptoError } from './errors.ts'

/** What a placeholder's name stands for at this place: a value, a name that may not be injected, or nothing. */
export type PlaceholderLookup = (name: string) => { value: string } | 'denied' | 'unknown'

/** The text to send, and the names whose values are in it, sorted, each once. */
export interface Substituted {
  text: string
  names: string[]
}

/** Our marker, and the published one, which every client of the format shares: one grammar. */
const openers = ['{{skerry:', '{{seekrit:'] as const

const openerPattern = new RegExp(openers.join('|'), 'g')

/** Wider than the grammar of references: a name may start with a digit. */
const namePattern = /([A-Za-z0-9_]+)\}\}/y

/**
 * Replaces every `{{skerry:NAME}}` and `{{seekrit:NAME}}` by its value. All or nothing: a name that is denied or unknown refuses the whole
 * text, so that nothing leaves with a placeholder unfilled. Malformed and unterminated markers are ordinary text; a
 * substituted value is never scanned again.
 *
 * @throws CryptoError `placeholder_denied` or `placeholder_unresolved`, with the name in `subject`.
 * @example
 * substitute('Bearer {{skerry:API_KEY}}', () => ({ value: 'sk-live' })).text // 'Bearer sk-live'
 */
export function substitute(text: string, lookup: PlaceholderLookup): Substituted {
  const names = new Set<string>()
  let out = ''
  let from = 0
  for (const { 0: opener, index: at } of text.matchAll(openerPattern)) {
    // Within what a name has already taken.
    if (at < from) continue
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
