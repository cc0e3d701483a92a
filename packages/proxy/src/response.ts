import type { IncomingMessage, ServerResponse } from 'node:http'
import { type Duplex, pipeline } from 'node:stream'
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
  /** Never told a value. */
  warn: (message: string) => void
  telemetry?: Pick<Telemetry, 'redacted'> | null
}

/** Sends an upstream's answer to the client; values that are not to come back are replaced on the way. */
export function pass(
  core: Redacting,
  answer: IncomingMessage,
  response: ServerResponse,
  injected: Injected[],
  host: string,
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
  response.writeHead(statusCode, redactions.headers(kept).flat())
  const ended = () => {
    redactions.count()
    tell(core, redactions.counts, host)
  }
  pipeline([answer, ...decoders, redactions.stream(), response], ended)
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
export function redactionsOf({ config }: Redacting, secrets: Injected[]) {
  const { placeholder, encodings } = config.redaction
  const counts = new Map<string, number>()
  const open = redaction(secrets, { placeholder, encodings })
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
    /** Adds what was replaced in the body, also where it was cut off. */
    count: () => count(body),
  }
}

export function tell({ warn, telemetry }: Redacting, counts: ReadonlyMap<string, number>, host: string): void {
  for (const [name, times] of counts) {
    warn(`${host} sent ${name} back: replaced ${times} times`)
    telemetry?.redacted(host, name, times)
  }
}
