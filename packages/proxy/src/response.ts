import type { IncomingMessage, ServerResponse } from 'node:http'
import { type Duplex, pipeline } from 'node:stream'
import { buffer } from 'node:stream/consumers'
import type { Activity, Event } from './activity.ts'
import type { Config } from './config/config.ts'
import { endToEnd, type Headers, pairs, valuesOf } from './headers.ts'
import { DecompressionError, decompression } from './redaction/decompress.ts'
import { type Redactor, redaction, redactStream } from './redaction/redactor.ts'
import { Refusal } from './refusal.ts'
import type { Secrets } from './secrets.ts'
import type { Telemetry } from './telemetry/telemetry.ts'

/** A value that went out with a request, by its name. */
export interface Injected {
  name: string
  value: string
}

/** What replacing values in answers needs to know. */
export interface Redacting {
  config: Pick<Config, 'redaction'>
  /** Of all requests, for a scan that looks for more than this one was given. */
  secrets: Pick<Secrets, 'all'>
  /** Without it, a search is made for each answer. */
  searches?: Searches
  /** Never told a value. */
  warn: (message: string) => void
  telemetry?: Pick<Telemetry, 'redacted'> | null
  activity?: Pick<Activity, 'redacted'> | null
}

/** What looks for some values. */
export type Searches = (secrets: readonly Injected[]) => () => Redactor

const searchesMax = 100

/** To make a search costs more than to look through an answer: those for the values that were sent last are kept. */
export function openSearches({ redaction: settings }: Redacting['config']): Searches {
  const kept = new Map<string, () => Redactor>()
  return (secrets) => {
    const key = JSON.stringify(secrets)
    const found = kept.get(key) ?? redaction(secrets, settings)
    // The one that was used last is the last.
    kept.delete(key)
    kept.set(key, found)
    if (kept.size > searchesMax) kept.delete(kept.keys().next().value!)
    return found
  }
}

/** What an upstream answers to: its host, and what the request was counted as. */
export type Answered = Pick<Event, 'host'> | Event

/** Of so many bytes at most, an answer is redacted at once, so that its length is known and no stream has to be made. */
const wholeMaxBytes = 65_536

/** Sends an upstream's answer to the client; values that are not to come back are replaced on the way. */
export function pass(
  core: Redacting,
  answer: IncomingMessage,
  response: ServerResponse,
  injected: Injected[],
  asked: Answered,
) {
  const wanted = hidden(core, injected)
  const headers = endToEnd(pairs(answer.rawHeaders))
  const { statusCode = 502, statusMessage } = answer
  if (wanted.length === 0) {
    response.writeHead(statusCode, statusMessage, headers.flat())
    pipeline(answer, response, () => {})
    return
  }
  const redactions = redactionsOf(core, wanted)
  const decoders = unpacking(headers)
  const dropped = new Set(['content-length', ...(decoders.length > 0 ? ['content-encoding'] : [])])
  const kept = headers.filter(([name]) => !dropped.has(name.toLowerCase()))
  const ended = () => {
    redactions.count()
    tell(core, redactions.counts, asked)
  }
  if (decoders.length === 0 && Number(answer.headers['content-length'] ?? Number.NaN) <= wholeMaxBytes) {
    buffer(answer).then(
      (bytes) => {
        sendWhole(response, { statusCode, statusMessage, headers: kept }, bytes, redactions)
        ended()
      },
      () => response.destroy(),
    )
    return
  }
  response.writeHead(statusCode, redactions.headers(kept).flat())
  pipeline([answer, ...decoders, redactions.stream(), response], ended)
}

function sendWhole(
  response: ServerResponse,
  { statusCode, statusMessage, headers }: { statusCode: number; statusMessage: string | undefined; headers: Headers },
  bytes: Buffer,
  redactions: ReturnType<typeof redactionsOf>,
): void {
  const head = redactions.headers(headers)
  const body = redactions.whole(bytes)
  // What is no body, as in the answer to HEAD, says nothing of the length of one.
  if (bytes.length > 0) head.push(['Content-Length', String(body.length)])
  response.writeHead(statusCode, statusMessage, head.flat())
  response.end(body)
}

/** What undoes the encoding of an answer. One that cannot be looked into does not pass. */
function unpacking(headers: Headers): Duplex[] {
  try {
    return decompression(valuesOf(headers, 'content-encoding').join(','))
  } catch (error) {
    if (!(error instanceof DecompressionError)) throw error
    throw new Refusal(502, 'upstream', 'the answer is packed in a way that cannot be looked into')
  }
}

/** Values that must not come back, long enough to be told from ordinary text. */
export function hidden({ config, secrets }: Redacting, injected: Injected[]): Injected[] {
  const { enabled, scan, minLength } = config.redaction
  if (!enabled) return []
  const all = scan === 'all' ? [...secrets.all()].map(([name, value]) => ({ name, value })) : injected
  return all.filter(({ value }) => value.length >= minLength)
}

/** No header holds it. */
const between = '\0'

/** What replaces values in one answer: in its head, all at once, and in its body. */
export function redactionsOf({ config, searches }: Redacting, secrets: Injected[]) {
  const counts = new Map<string, number>()
  const open = searches ? searches(secrets) : redaction(secrets, config.redaction)
  const body = open()
  const count = (one: Redactor) => {
    for (const [name, times] of one.counts) counts.set(name, (counts.get(name) ?? 0) + times)
  }
  return {
    counts,
    headers(headers: Headers): Headers {
      const one = open()
      const values = headers.map(([, value]) => value).join(between)
      const parts = [one.transform(Buffer.from(values, 'latin1')), one.flush()]
      count(one)
      const redacted = Buffer.concat(parts).toString('latin1').split(between)
      return headers.map(([name], at) => [name, redacted[at] ?? ''])
    },
    stream: () => redactStream(body),
    whole: (bytes: Buffer) => Buffer.concat([body.transform(bytes), body.flush()]),
    /** Adds what was replaced in the body, also where it was cut off. */
    count: () => count(body),
  }
}

export function tell(
  { warn, telemetry, activity }: Redacting,
  counts: ReadonlyMap<string, number>,
  asked: Answered,
): void {
  for (const [name, times] of counts) {
    warn(`${asked.host} sent ${name} back: replaced ${times} times`)
    telemetry?.redacted(asked.host, name, times)
  }
  if ('decision' in asked) activity?.redacted(asked, counts)
}
