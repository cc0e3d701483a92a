import { SkerryError } from '@skerry/sdk/errors'
import { messageOf } from './messages.ts'

/** A field that the server refused, with the reason as a sentence. */
export interface RefusedField {
  /** The path as in forms: `slug`, `grants.0.principalId`. */
  path: string
  message: string
}

/**
 * Returns the field that a refusal names, or undefined if the refusal concerns the whole request. The server writes
 * `body.<path>: <reason>`, or `body: <name> is required` for a missing field. Only this function reads those messages.
 */
export function refusedField(error: unknown): RefusedField | undefined {
  if (!(error instanceof SkerryError)) return undefined
  const [, missing] = /^body: (\w+) is required$/.exec(error.message) ?? []
  if (missing) return { path: missing, message: 'This field is required.' }
  const [, path, reason] = /^body\.([\w.-]+): (.+)$/s.exec(error.message) ?? []
  return path && reason ? { path, message: messageFor(reason) } : undefined
}

/** The server's sentences for broken schema rules. The form shows its own words for the same rule. */
const rules = [
  { sentence: /^must not have fewer than (\d+) characters$/, keyword: 'minLength' },
  { sentence: /^must not have more than (\d+) characters$/, keyword: 'maxLength' },
  { sentence: /^must be >= (\d+)$/, keyword: 'minimum' },
  { sentence: /^must be <= (\d+)$/, keyword: 'maximum' },
  { sentence: /^must match pattern "(.*)"$/s, keyword: 'pattern' },
]

function messageFor(reason: string): string {
  for (const { sentence, keyword } of rules) {
    const [, found] = sentence.exec(reason) ?? []
    if (found !== undefined) return messageOf({ keyword, params: { limit: Number(found), pattern: found } })
  }
  const text = reason.slice(0, 1).toUpperCase() + reason.slice(1)
  return /[.!?]$/.test(text) ? text : `${text}.`
}
