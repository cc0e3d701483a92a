import { CryptoError } from './errors.ts'

/** Looks up a placeholder's name: the value, `denied` if it may not be injected here, or `unknown`. */
export type PlaceholderLookup = (name: string) => { value: string } | 'denied' | 'unknown'

/** The text to send, and the names whose values are in it, sorted, each once. */
export interface Substituted {
  text: string
  names: string[]
}

/** The two markers that start a placeholder: Skerry's own, and the one of the published format. Their grammar is the same. */
const openers = ['{{skerry:', '{{seekrit:'] as const

const openerPattern = new RegExp(openers.join('|'), 'g')

/** The name in a placeholder. Unlike the name in a reference between secrets, it may start with a digit. */
const namePattern = /([A-Za-z0-9_]+)\}\}/y

/**
 * Replaces every `{{skerry:NAME}}` and `{{seekrit:NAME}}` with its value. One denied or unknown name refuses the whole
 * text, so that no text is sent with an unfilled placeholder. Malformed and unterminated markers are ordinary text. A
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
    // This marker is inside text that was already replaced.
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
