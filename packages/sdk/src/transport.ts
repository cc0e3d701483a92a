import { clientError, errorOf, invalid, SkerryError } from './errors.ts'

/** The `fetch` of the platform, or a function that behaves like it. */
export type Fetch = (url: string, init: RequestInit) => Promise<FetchAnswer>

/** The part of `Response` that this package uses. */
export interface FetchAnswer extends Pick<Response, 'status' | 'ok' | 'type'> {
  headers: Pick<Headers, 'get'>
  body: { cancel: () => Promise<void>; getReader: () => BodyReader } | null
}

interface BodyReader {
  read: () => Promise<{ done: boolean; value?: Uint8Array | undefined }>
  cancel: () => Promise<void>
}

/** One request, ready to send: `path` begins with a slash and includes the query. */
export interface Outgoing {
  method: string
  path: string
  headers: Record<string, string>
  body?: string
  signal?: AbortSignal
}

/** A success or a 304, with its whole body. */
export interface Incoming {
  status: number
  text: string
  etag: string | null
  requestId: string | null
}

export interface TransportSettings {
  /** The result of `parseBaseUrl`. */
  baseUrl: string
  fetch: Fetch
  /** The time limit of one attempt, up to the last byte of its answer. */
  timeoutMs: number
  attempts: number
  /**
   * The longest wait before the second attempt. It doubles for each further attempt. The actual wait is random, between
   * half of it and all of it.
   */
  backoffMs: number
  /** The longest Retry-After that the client waits for. For a longer one the caller gets the error at once. */
  retryAfterMaxMs: number
  answerMaxBytes: number
  /** Texts that are redacted from error messages. */
  secrets: readonly string[]
}

/** Gateways answer with these while the server starts or is down. The server has then done nothing. */
const gatewayStatuses = new Set([502, 503])

const redirected =
  'it answered with a redirect, which Skerry does not follow, so that the credential stays with this server'

/** The result of one attempt. If `retryAfterMs` is undefined, the request must not be repeated. */
type Outcome = { incoming: Incoming } | { error: SkerryError; retryAfterMs: number | undefined }

/**
 * Sends a request, and repeats it where that is safe. Any request is repeated after a 429, because it was refused
 * before anything changed. A GET is also repeated after 502, 503 and a network failure. Timeouts are not repeated.
 * Redirects are never followed.
 *
 * @throws UnavailableError, RefusedError, SkerryError; the signal's reason when the caller aborts.
 * @example
 * const limits = { timeoutMs: 10_000, attempts: 3, backoffMs: 100, retryAfterMaxMs: 5000, answerMaxBytes: 1_000_000 }
 * const settings = { ...limits, baseUrl: 'https://skerry.example.com', fetch, secrets: [] }
 * const { text } = await send(settings, { method: 'GET', path: '/health', headers: {} })
 */
export async function send(settings: TransportSettings, outgoing: Outgoing): Promise<Incoming> {
  for (let attempt = 1; ; attempt++) {
    const backoffMs = settings.backoffMs * 2 ** (attempt - 1) * (0.5 + Math.random() / 2)
    const outcome = await sendOnce(settings, outgoing, backoffMs)
    if ('incoming' in outcome) return outcome.incoming
    const { error, retryAfterMs } = outcome
    if (attempt >= settings.attempts || retryAfterMs === undefined || retryAfterMs > settings.retryAfterMaxMs) {
      throw error
    }
    await sleep(retryAfterMs, outgoing.signal)
  }
}

async function sendOnce(settings: TransportSettings, outgoing: Outgoing, backoffMs: number): Promise<Outcome> {
  const repeatable = outgoing.method === 'GET'
  const timeout = AbortSignal.timeout(settings.timeoutMs)
  const signal = outgoing.signal ? AbortSignal.any([outgoing.signal, timeout]) : timeout
  try {
    const { path, ...init } = outgoing
    // No other option is set: some workers refuse a request that sets `cache` or `credentials`.
    const response = await settings.fetch(settings.baseUrl + path, { ...init, signal, redirect: 'manual' })
    const { status } = response
    const requestId = response.headers.get('x-request-id')
    if (isRedirect(response)) {
      await response.body?.cancel()
      const error = clientError('unavailable', redirected, { status, requestId })
      return { error, retryAfterMs: undefined }
    }
    const text = await readText(response, settings.answerMaxBytes)
    if (response.ok || status === 304) {
      return { incoming: { status, text, etag: parseEtag(response.headers.get('etag')), requestId } }
    }
    const error = errorOf(status, text, { requestId }, settings.secrets)
    if (status === 429)
      return { error, retryAfterMs: parseRetryAfter(response.headers.get('retry-after')) ?? backoffMs }
    return { error, retryAfterMs: repeatable && gatewayStatuses.has(status) ? backoffMs : undefined }
  } catch (thrown) {
    outgoing.signal?.throwIfAborted()
    if (thrown instanceof SkerryError) return { error: thrown, retryAfterMs: undefined }
    if (timeout.aborted) {
      return { error: clientError('timeout', `no answer within ${settings.timeoutMs} ms`), retryAfterMs: undefined }
    }
    const error = networkError(thrown, settings.baseUrl)
    return { error, retryAfterMs: repeatable && error.code === 'unavailable' ? backoffMs : undefined }
  }
}

/**
 * Sends a request once, and yields the body of a success piece by piece, for answers that are too long to keep in
 * memory. The time limit applies only until the answer begins. If the caller stops reading, the rest is cancelled.
 *
 * @throws The errors of `send`. While reading: SkerryError `unavailable` if the answer breaks off.
 */
export async function openBody(settings: TransportSettings, outgoing: Outgoing): Promise<AsyncGenerator<Uint8Array>> {
  return piecesOf(await openAnswer(settings, outgoing, ({ ok }) => !ok), settings)
}

/**
 * Sends a request once, and returns its answer before the body is read. The time limit applies only until the answer
 * begins.
 *
 * @param isRefused whether an answer is a refusal. A refusal is thrown as an error and not returned
 * @throws The errors of `send`.
 */
export async function openAnswer(
  settings: TransportSettings,
  outgoing: Outgoing,
  isRefused: (answer: FetchAnswer) => boolean,
): Promise<FetchAnswer> {
  const beginning = new AbortController()
  const timer = setTimeout(() => beginning.abort(), settings.timeoutMs)
  const { path, ...init } = outgoing
  try {
    const signal = outgoing.signal ? AbortSignal.any([outgoing.signal, beginning.signal]) : beginning.signal
    const response = await settings.fetch(settings.baseUrl + path, { ...init, signal, redirect: 'manual' })
    if (isRedirect(response)) throw clientError('unavailable', redirected, { status: response.status })
    if (!isRefused(response)) return response
    const text = await readText(response, settings.answerMaxBytes)
    const requestId = response.headers.get('x-request-id')
    throw errorOf(response.status, text, { requestId }, settings.secrets)
  } catch (thrown) {
    outgoing.signal?.throwIfAborted()
    if (thrown instanceof SkerryError) throw thrown
    throw beginning.signal.aborted
      ? clientError('timeout', `no answer within ${settings.timeoutMs} ms`)
      : networkError(thrown, settings.baseUrl)
  } finally {
    clearTimeout(timer)
  }
}

async function* piecesOf({ body }: FetchAnswer, { baseUrl }: TransportSettings): AsyncGenerator<Uint8Array> {
  const reader = body?.getReader()
  try {
    for (;;) {
      const { done, value } = (await reader?.read()) ?? { done: true }
      if (done || !value) return
      yield value
    }
  } catch {
    throw clientError('unavailable', `${baseUrl} (the connection ended in the middle of the answer)`)
  } finally {
    await reader?.cancel()
  }
}

/** Accepts an entity tag of RFC 9110 section 8.8.3 in plain ASCII. Any other tag could not be sent in If-None-Match. */
function parseEtag(header: string | null): string | null {
  return header !== null && /^(?:W\/)?"[\x21\x23-\x7e]{0,256}"$/.test(header) ? header : null
}

/** Browsers hide a redirect behind status 0; 304 is an answer to a conditional request, not a redirect. */
function isRedirect(response: FetchAnswer): boolean {
  return (
    response.type === 'opaqueredirect' || (response.status >= 300 && response.status < 400 && response.status !== 304)
  )
}

/** Reads the whole body as text. A body above the limit is cancelled, so that it cannot fill the memory. */
async function readText(response: FetchAnswer, maxBytes: number): Promise<string> {
  if (!response.body) return ''
  const decoder = new TextDecoder()
  const reader = response.body.getReader()
  let text = ''
  let length = 0
  for (;;) {
    const { done, value } = await reader.read()
    if (done || !value) return text + decoder.decode()
    length += value.length
    if (length > maxBytes) {
      await reader.cancel()
      throw clientError('malformed_answer', `it is longer than ${maxBytes} bytes`, { status: response.status })
    }
    text += decoder.decode(value, { stream: true })
  }
}

/** `Date.parse` alone accepts almost any text as a date. */
const httpDate = /^[A-Z][a-z]{2}, \d{2} [A-Z][a-z]{2} \d{4} \d{2}:\d{2}:\d{2} GMT$/

/**
 * Converts Retry-After (RFC 9110 section 10.2.3), seconds or a date, to milliseconds from now. Undefined if it is
 * absent or invalid.
 *
 * @example parseRetryAfter('2') // 2000
 */
export function parseRetryAfter(header: string | null, now = Date.now()): number | undefined {
  if (header === null) return undefined
  if (/^\d{1,9}$/.test(header.trim())) return Number(header) * 1000
  if (!httpDate.test(header)) return undefined
  const at = Date.parse(header)
  return Number.isNaN(at) ? undefined : Math.max(0, at - now)
}

/** Node's error codes for a certificate whose authority it does not know. */
const untrusted = /SELF_SIGNED_CERT|GET_ISSUER_CERT|VERIFY_LEAF|CERT_UNTRUSTED/

/** Builds the error for a request that got no answer, and distinguishes an untrusted certificate from an unreachable server. */
export function networkError(thrown: unknown, baseUrl: string): SkerryError {
  const cause = causeOf(thrown)
  if (cause === undefined) return clientError('unavailable', baseUrl)
  return clientError(untrusted.test(cause) ? 'untrusted_certificate' : 'unavailable', `${baseUrl} (${cause})`)
}

/**
 * Names the kind of a network failure (`ECONNREFUSED`). The failure itself is not passed on, because it may contain the
 * request.
 */
function causeOf(thrown: unknown): string | undefined {
  const code = (thrown as { cause?: { code?: unknown } } | null)?.cause?.code
  return typeof code === 'string' && /^[A-Z0-9_]+$/.test(code) ? code : undefined
}

/**
 * Waits. If the signal aborts, it rejects at once with the signal's reason.
 *
 * @example await sleep(500, signal)
 */
export function sleep(ms: number, signal?: AbortSignal): Promise<void> {
  return new Promise((done, fail) => {
    if (signal?.aborted) return fail(signal.reason)
    const abort = () => {
      clearTimeout(timer)
      fail(signal?.reason)
    }
    const timer = setTimeout(() => {
      signal?.removeEventListener('abort', abort)
      done()
    }, ms)
    signal?.addEventListener('abort', abort, { once: true })
  })
}

/** Printable ASCII. A platform's `fetch` refuses anything else, with a message that repeats the header. */
const headerValue = /^[\x20-\x7e]*$/

/**
 * Checks headers before they reach `fetch`, so that no platform error can quote a credential.
 *
 * @throws SkerryError `invalid_request` that names the header, never its value.
 * @example checkHeaders({ authorization: `Bearer ${bearer}` })
 */
export function checkHeaders(headers: Record<string, string>): void {
  for (const [name, value] of Object.entries(headers)) {
    if (!/^[A-Za-z0-9-]+$/.test(name)) throw invalid('header name: use letters, digits and hyphens')
    if (typeof value !== 'string' || !headerValue.test(value)) throw invalid(`header ${name}: must be printable ASCII`)
  }
}
