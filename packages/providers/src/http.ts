import { type Outbound, type OutboundAnswer, OutboundError, type OutboundRequest } from './outbound.ts'
import { fromOutbound, ProviderError } from './provider-error.ts'

export interface JsonRequest extends Omit<OutboundRequest, 'body'> {
  json?: unknown
}

export interface JsonAnswer {
  status: number
  headers: OutboundAnswer['headers']
  /** The parsed body. Undefined if the body is empty or not JSON. */
  body: unknown
}

/** Sends JSON and reads JSON. Returns an answer of any status. Throws `ProviderError` if there is no answer. */
export async function sendJson(outbound: Outbound, { json, headers, ...request }: JsonRequest): Promise<JsonAnswer> {
  const body = json === undefined ? {} : { body: JSON.stringify(json) }
  const type: Record<string, string> = json === undefined ? {} : { 'content-type': 'application/json' }
  const answer = await outbound
    .send({ ...request, headers: { accept: 'application/json', ...type, ...headers }, ...body })
    .catch((error: unknown) => {
      if (error instanceof OutboundError) throw fromOutbound(error)
      throw error
    })
  return { status: answer.status, headers: answer.headers, body: parsed(answer.body) }
}

function parsed(body: Uint8Array): unknown {
  try {
    return JSON.parse(new TextDecoder().decode(body))
  } catch {
    return undefined
  }
}

/**
 * Turns the status of an answer into a refusal, or into null for a success. `errorText` is what the adapter read from
 * the error body, without any values that were sent.
 */
export function statusFailure(
  { status, headers }: JsonAnswer,
  now: Date,
  errorText: string | null,
): ProviderError | null {
  if (status >= 200 && status < 300) return null
  const text = errorText === null ? `HTTP ${status}` : `HTTP ${status}: ${errorText}`
  if (status === 429) return new ProviderError('rate_limited', text, retryAfterMs(headers, now))
  if (status === 401 || status === 403) return new ProviderError('denied', text)
  if (status === 404 || status === 410) return new ProviderError('missing', text)
  if (status === 408 || status >= 500) return new ProviderError('unreachable', text, retryAfterMs(headers, now))
  return new ProviderError('failed', text)
}

/** Reads `Retry-After` in seconds or as a date (RFC 9110, section 10.2.3). Undefined if there is none. `ProviderError` limits it. */
export function retryAfterMs(headers: OutboundAnswer['headers'], now: Date): number | undefined {
  const value = headers['retry-after']
  if (value === undefined) return undefined
  if (/^\d+$/.test(value)) return Number(value) * 1000
  const date = Date.parse(value)
  return Number.isNaN(date) ? undefined : Math.max(0, date - now.getTime())
}
