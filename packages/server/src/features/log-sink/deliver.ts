import { JsonLogsSerializer } from '@opentelemetry/otlp-transformer'
import { type OutboundAnswer, OutboundError } from '@skerry/providers/outbound'
import type { Context } from '../../http/context.ts'
import { type Batch, toBody } from './otlp.ts'
import type { Sink } from './store.ts'

/** The result of a batch. It repeats no text of a collector, because that may quote what it was sent. */
export type Outcome =
  | { kind: 'accepted'; status: number; rejected: number }
  | { kind: 'again'; status: number | null; error: string; afterSeconds: number | null }
  | { kind: 'refused'; status: number; error: string }

const timeoutMs = 10_000
const answerBytesMax = 64 * 1024

/** Statuses after which the OTLP specification tells a client to retry. */
const comeAgain = new Set([408, 429, 502, 503, 504])

export async function deliver(context: Context, sink: Sink, batch: Batch): Promise<Outcome> {
  const headers = headersOf(context, sink)
  try {
    const answer = await context.outbound.send({
      method: 'POST',
      url: sink.endpoint,
      headers: { ...headers, 'content-type': 'application/json', 'user-agent': 'skerry' },
      body: toBody(sink.orgId, batch),
      timeoutMs,
      bytesMax: answerBytesMax,
    })
    return outcomeOf(answer, context.now())
  } catch (error) {
    if (!(error instanceof OutboundError)) throw error
    return { kind: 'again', status: null, error: error.message, afterSeconds: null }
  }
}

function headersOf({ serverKey }: Context, { orgId, sealedHeaders }: Sink): Record<string, string> {
  const text = serverKey?.open('log-sink-headers', orgId, sealedHeaders)
  if (text === undefined) throw new Error('the server key does not open the headers of a log sink')
  return JSON.parse(text)
}

function outcomeOf({ status, headers, body }: OutboundAnswer, now: Date): Outcome {
  if (status >= 200 && status < 300) {
    const rejected = rejectedOf(body)
    if (rejected !== undefined) return { kind: 'accepted', status, rejected }
    return { kind: 'again', status, error: `answered ${status} with what is no OTLP answer`, afterSeconds: null }
  }
  if (status >= 400 && status < 500 && !comeAgain.has(status))
    return { kind: 'refused', status, error: `answered ${status}` }
  return { kind: 'again', status, error: `answered ${status}`, afterSeconds: retryAfter(headers['retry-after'], now) }
}

/** Returns how many records were rejected, or undefined if this is not the answer of a collector. */
function rejectedOf(body: Uint8Array): number | undefined {
  const text = Buffer.from(body).toString().trim()
  if (text === '') return 0
  if (!text.startsWith('{') || !isJson(text)) return undefined
  const rejected = Number(JsonLogsSerializer.deserializeResponse(body).partialSuccess?.rejectedLogRecords ?? 0)
  return Number.isSafeInteger(rejected) && rejected >= 0 ? rejected : undefined
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text)
    return true
  } catch {
    return false
  }
}

const pauseMaxSeconds = 24 * 3600

/** Parses a Retry-After header: seconds or a date (RFC 9110, section 10.2.3). */
function retryAfter(text: string | undefined, now: Date): number | null {
  if (text === undefined) return null
  const seconds = /^\d{1,9}$/.test(text) ? Number(text) : Math.ceil((Date.parse(text) - now.getTime()) / 1000)
  return Number.isFinite(seconds) ? Math.min(Math.max(seconds, 0), pauseMaxSeconds) : null
}
