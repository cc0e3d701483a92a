import type { OutboundError } from './outbound.ts'
import { type TextSearch, textSearchFor } from './redaction/text.ts'

/** Why a provider could not do what was asked. The message may be shown and stored: it holds nothing secret. */
export class ProviderError extends Error {
  readonly reason: ProviderFailure
  /** How long to wait before the next try, where the other side said so. */
  readonly retryAfterMs: number | undefined

  constructor(reason: ProviderFailure, message: string, retryAfterMs?: number) {
    super(message)
    this.name = 'ProviderError'
    this.reason = reason
    this.retryAfterMs = retryAfterMs
  }
}

export type ProviderFailure =
  /** What was asked can never be done there: found out before anything was sent, or told by the other side. */
  | 'invalid'
  /** The other side rejects the credential, or the credential lacks a permission. */
  | 'denied'
  /** The name exists there already, and nothing was changed. */
  | 'exists'
  /** An account of this name is not the lease’s own, and nothing was changed. */
  | 'foreign'
  /** What is addressed there (a database, an application) does not exist. */
  | 'missing'
  /** A server of this kind, version or setting can never be a target. */
  | 'unsupported'
  /** Too many requests. */
  | 'rate_limited'
  /** No answer, or the connection broke in the middle: what was sent may have been done. */
  | 'unreachable'
  /** Any other refusal of the other side. */
  | 'failed'

const outboundReasons: Readonly<Record<OutboundError['reason'], ProviderFailure>> = {
  refused_address: 'invalid',
  unsendable: 'invalid',
  unreachable: 'unreachable',
  timeout: 'unreachable',
  tls: 'unreachable',
  aborted: 'unreachable',
  too_large: 'failed',
  unreadable: 'failed',
}

/** The same in an adapter’s words; what `OutboundError` says holds nothing secret either. */
export const fromOutbound = ({ reason, message }: OutboundError) => new ProviderError(outboundReasons[reason], message)

/** An answer may have any length. More is searched than is stored, so that a value at the end of the stored text is found. */
const searchedLength = 2000
const storedLength = 300

/** Shortens a text of another system to one line that can be stored. */
export const storableLineOf = (text: string): string => text.replace(/\p{Cc}+/gu, ' ').slice(0, storedLength)

/**
 * Returns the error text of a target or provider as one line, or null if it repeats a secret, in any encoding or in parts.
 * Databases quote the statement near an error, and HTTP services quote the field.
 *
 * @example errorTextOf('invalid password s3cret', [password]) ?? 'The error text repeats a secret.'
 */
export function errorTextOf(text: string, secrets: readonly string[]): string | null {
  const searched = text.slice(0, searchedLength)
  return textSearchFor(secrets)(searched) ? null : storableLineOf(searched)
}

const redactedText = 'The error text is not shown, because it repeats a secret.'

/** Returns the text, or a sentence in its place if it repeats a secret. */
export const redactSecrets = (text: string, repeatsSecret: TextSearch): string =>
  repeatsSecret(text) ? redactedText : text
