import type { IncomingMessage, ServerResponse } from 'node:http'
import { type Duplex, pipeline } from 'node:stream'
import type { Activity, Event } from './activity.ts'
import type { Config } from './config/config.ts'
import { endToEnd, type Headers, pairs } from './headers.ts'
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
export async function pass(
  core: Redacting,
  answer: IncomingMessage,
  response: ServerResponse,
  injected: Injected[],
  asked: Answered,
): Promise<void> {
  const wanted = hidden(core, injected)
  const came = pairs(answer.rawHeaders)
  const { statusCode = 502, statusMessage } = answer
  if (wanted.length === 0) {
    begin(response, statusCode, statusMessage, endToEnd(came).flat())
    pipeline(answer, response, () => {})
    return
  }
  const redactions = redactionsOf(core, wanted)
  const decoders = unpacking(answer.headers['content-encoding'])
  const rewritten = ['content-length', ...(decoders.length > 0 ? ['content-encoding'] : [])]
  const headers = redactions.headers(endToEnd(came, rewritten))
  const ended = () => tell(core, redactions.counts, asked)
  if (decoders.length === 0 && Number(answer.headers['content-length'] ?? Number.NaN) <= wholeMaxBytes) {
    const bytes = await wholeOf(answer)
    if (bytes === null) return void response.destroy()
    const body = redactions.whole(bytes)
    // What is no body, as in the answer to HEAD, says nothing of the length of one.
    const length = bytes.length > 0 ? ['Content-Length', String(body.length)] : []
    begin(response, statusCode, statusMessage, [...headers.flat(), ...length])
    response.end(body)
    ended()
    return
  }
  begin(response, statusCode, statusMessage, headers.flat())
  pipeline([answer, ...decoders, redactions.stream(), response], ended)
}

/** Providers send bytes in their heads that Node reads and does not write. */
function begin(response: ServerResponse, status: number, words: string | undefined, headers: string[]): void {
  try {
    response.writeHead(status, words, headers)
  } catch {
    throw new Refusal(502, 'upstream', 'the head of the answer cannot be passed on')
  }
}

/** The body, or null where it was cut off. Node's own `buffer` makes a Blob of it, which costs a sixth of a small request. */
function wholeOf(answer: IncomingMessage): Promise<Buffer | null> {
  const { promise, resolve } = Promise.withResolvers<Buffer | null>()
  const chunks: Buffer[] = []
  answer.on('data', (chunk: Buffer) => chunks.push(chunk))
  answer.on('end', () => resolve(Buffer.concat(chunks)))
  answer.on('error', () => resolve(null))
  // Without an end before it: nobody waits for the answer any more.
  answer.on('close', () => resolve(null))
  return promise
}

/** What undoes the encoding of an answer. One that cannot be looked into does not pass. */
function unpacking(encoding: string | undefined): Duplex[] {
  try {
    return decompression(encoding)
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
  const open = searches ? searches(secrets) : redaction(secrets, config.redaction)
  const redactor = open()
  return {
    counts: redactor.counts,
    headers(headers: Headers): Headers {
      const values = Buffer.from(headers.map(([, value]) => value).join(between), 'latin1')
      const redacted = redactor.whole(values)
      if (redacted === values) return headers
      const parts = Buffer.from(redacted).toString('latin1').split(between)
      return headers.map(([name], at) => [name, parts[at] ?? ''])
    },
    stream: () => redactStream(redactor),
    whole: redactor.whole,
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
