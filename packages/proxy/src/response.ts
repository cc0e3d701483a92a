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

/** A value that was put into a request, with its name. */
export interface Injected {
  name: string
  value: string
}

/** The parts that are needed to redact answers. */
export interface Redacting {
  config: Pick<Config, 'redaction'>
  /** The secrets of all requests, for a scan that searches for more than the values of this request. */
  secrets: Pick<Secrets, 'all'>
  /** Without it, a search is built for each answer. */
  searches?: Searches
  /** The message never contains a value. */
  warn: (message: string) => void
  telemetry?: Pick<Telemetry, 'redacted'> | null
  activity?: Pick<Activity, 'redacted'> | null
}

/** Returns the search for some values. */
export type Searches = (secrets: readonly Injected[]) => Redaction

const searchesMax = 100

/** Caches the searches that were used last, because building a search costs more than searching an answer. */
export function openSearches({ redaction: settings }: Redacting['config']): Searches {
  const kept = new Map<string, Redaction>()
  return (secrets) => {
    const key = JSON.stringify(secrets)
    const found = kept.get(key) ?? redaction(secrets, settings)
    // Moves the search to the end, so that the first one is the least recently used.
    kept.delete(key)
    kept.set(key, found)
    if (kept.size > searchesMax) kept.delete(kept.keys().next().value!)
    return found
  }
}

/** The request that an answer belongs to: its host and method, or the event under which it was counted. */
export type Answered = Pick<Event, 'host' | 'method'> | Event

/** A body of at most this size is redacted at once, without a stream. */
const wholeMaxBytes = 65_536

/**
 * Sends an upstream's answer to the client, and replaces the values in it that must not come back.
 *
 * @param accepted the client's own Accept-Encoding. Without it, a compressed body stays compressed.
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
  const what =
    statusCode === 206 ? 'is only a part of a compressed body' : 'is compressed in a way that the proxy does not know'
  throw new Refusal(502, 'unsearchable', `the answer ${what}, so the proxy cannot search it for secrets; ${howToPass}`)
}

const howToPass = 'to allow such answers, set unsearchable = "pass" in [redaction]'

/**
 * Whether a client with this Accept-Encoding decompresses a coding itself. Clients that send no such header seldom do.
 */
function accepts(accepted: string | undefined, coding: string): boolean {
  const weights = (accepted ?? '')
    .toLowerCase()
    .split(',')
    .map((one) => one.split(';').map((part) => part.trim()))
  const found = weights.find(([name]) => name === coding) ?? weights.find(([name]) => name === '*')
  return found !== undefined && !found.slice(1).some((one) => /^q=0(?:\.0*)?$/.test(one))
}

/**
 * The proxy requests no transfer coding but chunked. Another one would hide the body, and its name is not passed on.
 */
function checkTransferCoding({ headers }: IncomingMessage): void {
  const coding = headers['transfer-encoding']
  if (coding !== undefined && coding.trim().toLowerCase() !== 'chunked')
    throw new Refusal(502, 'upstream', 'the answer has a transfer coding that the request did not ask for')
}

/** One answer on its way to the client. */
interface Passing {
  answer: IncomingMessage
  response: ServerResponse
  redactions: ReturnType<typeof redactionsOf>
  /** The redacted headers for the client, without the named ones. */
  headers: (without?: readonly string[]) => Headers
  /** Sends the head. */
  head: (headers: Headers) => void
  /** Reports the replacements. */
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

/**
 * A content-length without a body names the length that the body of a GET would have. Only a response to HEAD or with
 * status 304 may have such a header.
 */
function sendHead({ answer, response, headers, head, ended }: Passing): void {
  const isPromise = answer.headers['content-length'] !== '0' && answer.statusCode !== 304
  const isDropped = answer.statusCode === 204 || (isPromise && response.req.method !== 'HEAD')
  head(headers(isDropped ? ['content-length'] : []))
  answer.resume()
  response.end()
  ended()
}

/** A long body and a range keep their length, so a replacement in them is as long as the value. */
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

/**
 * The client accepts the compression, so it may get the body decompressed. Its ETag then becomes weak: the content is
 * equal, but the bytes are not.
 */
function sendUnpacked({ answer, response, redactions, headers, head, ended }: Passing): void {
  const weak = headers(['content-length', 'content-encoding']).map(([name, value]): Headers[number] => [
    name,
    isNamed(name, 'etag') && value.startsWith('"') ? `W/${value}` : value,
  ])
  head(weak)
  const decoders = decompression(answer.headers['content-encoding'])
  pipeline([answer, ...decoders, redactStream(redactions.body()), response], ended)
}

/** The client did not request compression, so the stored body itself is compressed and must arrive unchanged. */
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
      throw new Refusal(
        502,
        'unsearchable',
        'the compressed answer is damaged or incomplete, so the proxy cannot search it for secrets',
      )
    const { message, secret } = error
    throw new Refusal(
      502,
      'secret_in_packed',
      `${message}; send an Accept-Encoding header with this encoding, and the proxy answers uncompressed`,
      secret,
    )
  }
}

/** Sends the head of an answer. Providers may send bytes in it that Node reads but does not write. */
function begin(
  response: ServerResponse,
  { statusCode = 502 }: IncomingMessage,
  words: string | undefined,
  headers: Headers,
): void {
  try {
    response.writeHead(statusCode, words, headers.flat())
  } catch {
    throw new Refusal(502, 'upstream', 'the answer has an invalid header')
  }
}

/**
 * Returns the body, or null if it was cut off. Node's own `buffer` makes a Blob, which costs a sixth of a small
 * request.
 */
function wholeOf(answer: IncomingMessage): Promise<Buffer | null> {
  const { promise, resolve } = Promise.withResolvers<Buffer | null>()
  const chunks: Buffer[] = []
  answer.on('data', (chunk: Buffer) => chunks.push(chunk))
  answer.on('end', () => resolve(Buffer.concat(chunks)))
  answer.on('error', () => resolve(null))
  // If the answer closes without an end, nobody waits for it any more.
  answer.on('close', () => resolve(null))
  return promise
}

/** The values that must not come back, if they are long enough to differ from ordinary text. */
export function hidden({ config, secrets }: Redacting, injected: Injected[]): Injected[] {
  const { enabled, scan, minLength } = config.redaction
  if (!enabled) return []
  const all = scan === 'all' ? [...secrets.all()].map(([name, value]) => ({ name, value })) : injected
  return all.filter(({ value }) => value.length >= minLength)
}

/** No header contains this character. */
const between = '\0'

/** Builds the redaction of one answer: of its head, all at once, and of its body. */
export function redactionsOf({ config, searches }: Redacting, secrets: Injected[]) {
  const open = searches ? searches(secrets) : redaction(secrets, config.redaction)
  const counts = new Map<string, number>()
  const head = open({ counts })
  const line = (text: string) => Buffer.from(head.whole(Buffer.from(text, 'latin1'))).toString('latin1')
  return {
    counts,
    line: (text: string | undefined) => text && line(text),
    /** Drops a header whose name contains a value, because a placeholder is no valid name. */
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
    warn(
      `${asked.host} sent the value of ${name} back; the proxy replaced it ${times === 1 ? 'once' : `${times} times`}`,
    )
    telemetry?.redacted(asked.host, name, times)
  }
  if ('decision' in asked) activity?.redacted(asked, counts)
}
