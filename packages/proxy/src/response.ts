import type { IncomingMessage, ServerResponse } from 'node:http'
import { pipeline } from 'node:stream'
import { type Redaction, type RedactorOptions, redaction, redactStream } from '@skerry/providers/redaction/redactor'
import type { Activity, Event } from './activity.ts'
import type { Config } from './config/config.ts'
import { endToEnd, type Headers, isNamed, pairs } from './headers.ts'
import { canDecompress, codingsOf, decompression } from './redaction/decompress.ts'
import { FoundInPackedError, passPacked } from './redaction/packed.ts'
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
export type Searches = (secrets: readonly Injected[]) => Redaction

const searchesMax = 100

/** To make a search costs more than to look through an answer: those for the values that were sent last are kept. */
export function openSearches({ redaction: settings }: Redacting['config']): Searches {
  const kept = new Map<string, Redaction>()
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

/** What an upstream answers to: its host and method, and what the request was counted as. */
export type Answered = Pick<Event, 'host' | 'method'> | Event

/** A body of at most so many bytes is redacted at once, so that no stream has to be made. */
const wholeMaxBytes = 65_536

/**
 * Sends an upstream's answer to the client; values that are not to come back are replaced on the way.
 *
 * @param accepted the client's own Accept-Encoding. Without it, a packed body stays as it is stored.
 * @throws Refusal `unsearchable` for a body that cannot be searched, unless the settings let it pass.
 */
export async function pass(
  core: Redacting,
  answer: IncomingMessage,
  response: ServerResponse,
  injected: Injected[],
  asked: Answered,
  accepted?: string | undefined,
): Promise<void> {
  checkTransferCoding(answer)
  const wanted = hidden(core, injected)
  if (wanted.length === 0) {
    begin(response, answer, answer.statusMessage, endToEnd(pairs(answer.rawHeaders)))
    pipeline(answer, response, () => {})
    return
  }
  const redactions = redactionsOf(core, wanted)
  const passing: Passing = {
    answer,
    response,
    redactions,
    headers: (left = []) => redactions.headers(endToEnd(pairs(answer.rawHeaders), left)),
    head: (headers) => begin(response, answer, redactions.line(answer.statusMessage), headers),
    ended: () => tell(core, redactions.counts, asked),
  }
  await senders[planOf(core.config, answer, asked, accepted)](passing)
}

/** How the body of an answer is searched. */
type Plan = 'bodiless' | 'plain' | 'unpacked' | 'packed' | 'unsearched'

function planOf(
  { redaction: { unsearchable } }: Redacting['config'],
  { statusCode, headers }: IncomingMessage,
  { method }: Answered,
  accepted: string | undefined,
): Plan {
  const isBodiless = method === 'HEAD' || statusCode === 204 || statusCode === 304 || headers['content-length'] === '0'
  if (isBodiless) return 'bodiless'
  const codings = codingsOf(headers['content-encoding'])
  if (codings.length === 0) return 'plain'
  const isReadable = statusCode !== 206 && canDecompress(codings)
  if (isReadable) return codings.every((coding) => accepts(accepted, coding)) ? 'unpacked' : 'packed'
  if (unsearchable === 'pass') return 'unsearched'
  const what = statusCode === 206 ? 'is a range of a packed body' : 'is packed in a way that cannot be read'
  throw new Refusal(502, 'unsearchable', `the answer ${what}, so nobody can search it for secrets; ${howToPass}`)
}

const howToPass = 'unsearchable = "pass" in [redaction] lets such answers through'

/** Whether a client that sent this Accept-Encoding unpacks a coding itself. Clients that sent none seldom do. */
function accepts(accepted: string | undefined, coding: string): boolean {
  const weights = (accepted ?? '')
    .toLowerCase()
    .split(',')
    .map((one) => one.split(';').map((part) => part.trim()))
  const found = weights.find(([name]) => name === coding) ?? weights.find(([name]) => name === '*')
  return found !== undefined && !found.slice(1).some((one) => /^q=0(?:\.0*)?$/.test(one))
}

/** The proxy asks for no transfer coding but chunks. Another one would hide the body, and its name is not passed on. */
function checkTransferCoding({ headers }: IncomingMessage): void {
  const coding = headers['transfer-encoding']
  if (coding !== undefined && coding.trim().toLowerCase() !== 'chunked')
    throw new Refusal(502, 'upstream', 'the answer has a transfer coding that nobody asked for')
}

/** One answer on its way to the client. */
interface Passing {
  answer: IncomingMessage
  response: ServerResponse
  redactions: ReturnType<typeof redactionsOf>
  /** The redacted headers for the client, without some. */
  headers: (without?: readonly string[]) => Headers
  /** Sends the head. */
  head: (headers: Headers) => void
  /** Reports what was replaced. */
  ended: () => void
}

const senders: Readonly<Record<Plan, (passing: Passing) => void | Promise<void>>> = {
  bodiless: sendHead,
  plain: sendPlain,
  unpacked: sendUnpacked,
  packed: sendPacked,
  unsearched({ answer, response, headers, head, ended }) {
    head(headers())
    pipeline(answer, response, ended)
  },
}

/** A length without a body tells of the body that GET would bring. A response to another method must not promise it. */
function sendHead({ answer, response, headers, head, ended }: Passing): void {
  const isPromise = answer.headers['content-length'] !== '0' && answer.statusCode !== 304
  const isDropped = answer.statusCode === 204 || (isPromise && response.req.method !== 'HEAD')
  head(headers(isDropped ? ['content-length'] : []))
  answer.resume()
  response.end()
  ended()
}

/** A long body and a range keep their length: a replacement there is as long as the value. */
async function sendPlain({ answer, response, redactions, headers, head, ended }: Passing): Promise<void> {
  const length = Number(answer.headers['content-length'] ?? Number.NaN)
  const redactor = redactions.body({ keepsLength: answer.statusCode === 206 || length > wholeMaxBytes })
  if (!(length <= wholeMaxBytes)) {
    head(headers())
    pipeline([answer, redactStream(redactor), response], ended)
    return
  }
  const bytes = await wholeOf(answer)
  if (bytes === null) return void response.destroy()
  const body = redactor.whole(bytes)
  head([...headers(['content-length']), ['Content-Length', String(body.length)]])
  response.end(body)
  ended()
}

/** The client takes the packing, and may be sent the same without. Its tag then means equal content, not equal bytes. */
function sendUnpacked({ answer, response, redactions, headers, head, ended }: Passing): void {
  const weak = headers(['content-length', 'content-encoding']).map(([name, value]): Headers[number] => [
    name,
    isNamed(name, 'etag') && value.startsWith('"') ? `W/${value}` : value,
  ])
  head(weak)
  const decoders = decompression(answer.headers['content-encoding'])
  pipeline([answer, ...decoders, redactStream(redactions.body()), response], ended)
}

/** The client did not ask for packing, so the body is stored packed: it has to arrive as it is. */
async function sendPacked({ answer, response, redactions, headers, head, ended }: Passing): Promise<void> {
  const start = () => {
    head(headers())
    return response
  }
  try {
    const decoders = decompression(answer.headers['content-encoding'])
    await passPacked(answer, decoders, redactions.body({ counts: new Map() }), start)
    ended()
  } catch (error) {
    if (response.headersSent) return void response.destroy()
    if (!(error instanceof FoundInPackedError))
      throw new Refusal(502, 'unsearchable', 'the packed answer is damaged or was cut off, so it cannot be searched')
    const { message, secret } = error
    throw new Refusal(502, 'secret_in_packed', `${message}; a client that takes the packing gets it unpacked`, secret)
  }
}

/** Providers send bytes in their heads that Node reads and does not write. */
function begin(
  response: ServerResponse,
  { statusCode = 502 }: IncomingMessage,
  words: string | undefined,
  headers: Headers,
): void {
  try {
    response.writeHead(statusCode, words, headers.flat())
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
  const counts = new Map<string, number>()
  const head = open({ counts })
  const line = (text: string) => Buffer.from(head.whole(Buffer.from(text, 'latin1'))).toString('latin1')
  return {
    counts,
    line: (text: string | undefined) => text && line(text),
    /** A header whose name holds a value is dropped: a placeholder is no name. */
    headers(headers: Headers): Headers {
      const came = headers.flat().join(between)
      const redacted = line(came)
      if (redacted === came) return headers
      const parts = pairs(redacted.split(between))
      return parts.filter(([name], at) => name === headers[at]![0])
    },
    body: (options: RedactorOptions = {}) => open({ counts, ...options }),
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
