import type { OutboundError } from './outbound.ts'
import { type TextSearch, textSearchFor } from './redaction/text.ts'

/**
 * The failure of a call to a provider or target. Its message may be shown and stored, because it contains no secrets.
 */
export class ProviderError extends Error {
  readonly reason: ProviderFailure
  /** How long to wait before the next try, if the provider named a time. */
  readonly retryAfterMs: number | undefined

  constructor(reason: ProviderFailure, message: string, retryAfterMs?: number) {
    super(message)
    this.name = 'ProviderError'
    this.reason = reason
    this.retryAfterMs = pauseOf(retryAfterMs)
  }
}

/** A provider cannot stop the work for longer than a day. */
const retryAfterMaxMs = 24 * 3600 * 1000

/** Limits a pause that a provider asks for. A number that is no time asks for none. */
const pauseOf = (askedMs: number | undefined): number | undefined =>
  askedMs !== undefined && Number.isFinite(askedMs) && askedMs >= 0 ? Math.min(askedMs, retryAfterMaxMs) : undefined

export type ProviderFailure =
  /** The request can never work there. The adapter found this before it sent anything, or the provider reported it. */
  | 'invalid'
  /** The provider rejects the credential, or the credential lacks a permission. */
  | 'denied'
  /** The name already exists there, and nothing was changed. */
  | 'exists'
  /** An account of this name is not the lease’s own, and nothing was changed. */
  | 'foreign'
  /** The requested object, such as a database or an application, does not exist. */
  | 'missing'
  /** A server of this kind, version or setting can never be a target. */
  | 'unsupported'
  /** Too many requests. */
  | 'rate_limited'
  /** There was no answer, or the connection broke. The request may have been carried out. */
  | 'unreachable'
  /** Any other refusal of the provider. */
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

/** Converts an `OutboundError`, whose message contains no secrets either. */
export const fromOutbound = ({ reason, message }: OutboundError) => new ProviderError(outboundReasons[reason], message)

/**
 * A text may have any length. More of it is searched than stored, so that a value across the end of the stored part is
 * found.
 */
const searchedLength = 2000
const storedLength = 300

/** Shortens a text of another system to one line that can be stored. */
export const storableLineOf = (text: string): string => text.replace(/\p{Cc}+/gu, ' ').slice(0, storedLength)

/**
 * Returns the error text of a target or provider as one line, or null if it repeats a secret, in any encoding or in
 * parts. Databases quote the statement near an error, and HTTP services quote the field.
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
