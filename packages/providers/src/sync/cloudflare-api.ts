import type { JsonAnswer } from '../http.ts'
import type { Outbound } from '../outbound.ts'
import { ProviderError } from '../provider-error.ts'
import { type Api, tokenOf } from './call.ts'

// Code that the Cloudflare destinations share (https://developers.cloudflare.com/api): the header, and the envelope of
// each answer. All tokens of a user together have 1,200 requests per five minutes. Cloudflare then blocks the user for
// five minutes.

type EdgeTag = 'edge-workers' | 'edge-pages' | 'edge-secrets-store'

const ORIGIN = 'https://api.cloudflare.com'

/**
 * Error codes for tokens that are malformed, unknown or expired. Cloudflare answers them with 400 as often as with 401.
 */
const denied = new Set([6003, 6111, 9106, 9109, 10000, 10001])
/** Error codes for a missing Worker, a missing legacy environment of a Worker, and a missing Pages project. */
const missing = new Set([10007, 10090, 8000007])

export function edgeApi(outbound: Outbound, credential: string): Api {
  return { outbound, credential, headers: { authorization: `Bearer ${tokenOf(credential)}` }, readErrorText, refusal }
}

export const edgeAccount = (outbound: Outbound, tag: EdgeTag, accountId: string) =>
  `${outbound.origin(tag, ORIGIN)}/client/v4/accounts/${accountId}`

/** The error codes of an answer, whatever its status is. */
export function edgeCodes(body: unknown): number[] {
  return errorsOf(body).flatMap(({ code }) => (typeof code === 'number' ? [code] : []))
}

function refusal({ status, body }: JsonAnswer, errorText: string | null): ProviderError | null {
  const codes = edgeCodes(body)
  const text = errorText ?? `codes ${codes.join(', ')}`
  if (status === 429) return null
  if (codes.some((code) => denied.has(code))) return new ProviderError('denied', text)
  if (codes.some((code) => missing.has(code))) return new ProviderError('missing', text)
  const refused = (body as { success?: unknown } | undefined)?.success === false
  return refused && status < 400 ? new ProviderError('failed', text) : null
}

function readErrorText(body: unknown): string | null {
  const errors = errorsOf(body).map(({ code, message }) => `${code} ${message}`)
  return errors.length === 0 ? null : errors.join(', ')
}

function errorsOf(body: unknown): { code?: unknown; message?: unknown }[] {
  const errors = (body as { errors?: unknown } | undefined)?.errors
  return Array.isArray(errors) ? errors.filter((each) => each !== null && typeof each === 'object') : []
}
