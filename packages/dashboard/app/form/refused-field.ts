import { SkerryError } from '@skerry/sdk/errors'
import { patternMessage } from './messages.ts'

/** A field that the server refused, and why, as a sentence. */
export interface RefusedField {
  /** As forms name it: `slug`, `grants.0.principalId`. */
  path: string
  message: string
}

/**
 * The field that a refusal names. The server writes `body.<path>: <reason>`, and `body: <name> is required` for a field that
 * is missing; this is the only place that reads those messages. undefined for a refusal of the request as a whole.
 */
export function refusedField(error: unknown): RefusedField | undefined {
  if (!(error instanceof SkerryError)) return undefined
  const [, missing] = /^body: (\w+) is required$/.exec(error.message) ?? []
  if (missing) return { path: missing, message: 'This field is required.' }
  const [, path, reason] = /^body\.([\w.-]+): (.+)$/s.exec(error.message) ?? []
  return path && reason ? { path, message: messageFor(reason) } : undefined
}

function messageFor(reason: string): string {
  const [, pattern] = /^must match pattern "?(.*?)"?$/s.exec(reason) ?? []
  if (pattern !== undefined) return patternMessage(pattern)
  const sentence = reason.slice(0, 1).toUpperCase() + reason.slice(1)
  return /[.!?]$/.test(sentence) ? sentence : `${sentence}.`
}
