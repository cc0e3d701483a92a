import { type IncomingMessage, type ServerResponse, STATUS_CODES } from 'node:http'
import { isLoopback } from '@skerry/contract/loopback'
import type { Event } from './activity.ts'
import { type Authorized, authorize } from './authorize.ts'
import { hasBody, readBody } from './body.ts'
import type { Route } from './config/config.ts'
import type { Core } from './core.ts'
import {
  checkForm,
  framing,
  type Headers,
  isNamed,
  pairs,
  requestHeaders,
  ticketOf,
  valuesOf,
  withoutOverrides,
} from './headers.ts'
import { checkTrailers } from './placeholders.ts'
import { Refusal } from './refusal.ts'
import { hidden, type Injected, pass } from './response.ts'
import { checkSigned, isStream, signed } from './signing.ts'
import type { Body } from './sigv4/resign.ts'
import type { Observed, Permission } from './telemetry/telemetry.ts'
import { authorityOf, defaultPorts, type Sending, type Target, upstreamFailure } from './upstream.ts'

/** A request to any listener, with its destination. */
export interface Incoming {
  request: IncomingMessage
  to: Target
  /** Path and query for the upstream. */
  target: string
  /** Null for a request to the forward proxy. */
  route: Route | null
  /** The ticket that came with CONNECT. A request inside may present its own. */
  ticket?: string | undefined
}

/** Handles one request, from what the client has sent to the upstream's answer or a refusal. */
export async function handle(core: Core, incoming: Incoming, response: ServerResponse): Promise<void> {
  await answered(core, incoming, response, async (signal, observed) => {
    const { sending, secrets, permission, event } = await permit(core, incoming, signal)
    const { body, ...head } = traced(core, sending, observed)
    observed?.permitted(permission)
    observed?.sent()
    const answer = isStream(body)
      ? await core.upstreams.stream(incoming.to, head, body, signal)
      : await core.upstreams.send(incoming.to, withLength({ ...head, body }), signal)
    observed?.heard()
    await pass(core, answer, response, secrets, event, acceptedBy(incoming.request))
  })
}

/** Adds the trace header, so that the upstream's own trace continues the proxy's. */
export function traced<S extends { headers: Headers }>(
  { config }: Core,
  sending: S,
  observed: Observed | undefined,
): S {
  if (!config.propagateTraceUpstream || observed === undefined) return sending
  const others = sending.headers.filter(([name]) => !isNamed(name, 'traceparent'))
  return { ...sending, headers: [...others, ['traceparent', observed.traceparent]] }
}

const clientGone = new Error('the client closed the connection')

/** Runs the work, and turns every error into an answer. */
export async function answered(
  core: Core,
  { request, to, route }: Incoming,
  response: ServerResponse,
  work: (signal: AbortSignal, observed: Observed | undefined) => Promise<void>,
): Promise<void> {
  const gone = new AbortController()
  const observed = core.telemetry?.begin({
    method: request.method!,
    host: to.host,
    routePrefix: route?.prefix,
  })
  response.once('close', () => {
    // After a complete answer nothing is in progress. A fixed reason saves the stack trace for each request.
    if (!response.writableFinished) gone.abort(clientGone)
    observed?.end(response.statusCode)
  })
  try {
    await work(gone.signal, observed)
  } catch (error) {
    if (gone.signal.aborted) return
    const refusal = upstreamFailure(error)
    observed?.refused(refusal)
    core.warn(`${request.method} ${to.host}: ${refusal.message}`)
    refuse(request, response, refusal)
    // An answer that was refused is not read to its end.
    gone.abort(refusal)
  }
}

/** The encodings that the client itself decompresses. */
export const acceptedBy = ({ headers }: IncomingMessage): string | undefined => headers['accept-encoding']?.toString()

interface Permitted {
  sending: Omit<Sending, 'body'> & { body: Body }
  secrets: Injected[]
  permission: Permission
  event: Event
}

/** Runs every check before a request may be sent -> the request to send. */
export async function permit(core: Core, incoming: Incoming, signal: AbortSignal): Promise<Permitted> {
  const { request, to, route, target } = incoming
  const method = request.method!
  const headers = pairs(request.rawHeaders)
  checkForm(request, headers)
  const ticket = ticketOf(headers) ?? incoming.ticket
  const settings = route ? { sigv4: route.sigv4, allowHttp: true } : core.config.forward?.hosts.get(to.host)
  const signing = settings?.sigv4 ?? null
  if (signing) checkSigned(headers, target)
  // A request that is signed again is streamed, so its body is not read here.
  const body = hasBody(request) && !signing ? wholeBody(core, request) : async () => null
  const isSafe = settings?.allowHttp === true || to.protocol === 'https:' || isLoopback(to.host)
  const asking = {
    route,
    host: to.host,
    port: to.port,
    isPortPermitted: permitsPort(core, incoming),
    method,
    ticket,
    signing,
    isSafe,
  }
  const own = new Set(Object.keys(route?.headers ?? {}))
  const fillable = { target, body, own, headers: withOwn(requestHeaders(headers), route) }
  let found = await authorize(core, asking, fillable)
  const path = target.split('?', 1)[0]!
  if (core.approvals?.requires({ host: to.host, method, path })) {
    const secrets = found.secrets.map(({ name }) => name)
    await core.approvals.hold({ host: to.host, method, path, secrets, ruleIndex: found.ruleIndex }, signal)
    // Minutes may have passed, and the permission may have ended. So it is checked again.
    found = await authorize(core, asking, fillable)
  }
  const { session, ruleIndex, version } = found
  const sending = await sendingOf(core, incoming, found)
  core.ratchet.advance(session.run, { host: to.host, method, path })
  const secrets = found.secrets.map(({ name }) => name)
  const event: Event = { host: to.host, method, decision: 'allow', ruleIndex, version, secrets }
  core.activity?.record(event)
  const permission = { agent: session.agent, policyVersion: version, ruleIndex, secrets }
  return { sending, secrets: found.secrets, permission, event }
}

/** Builds a permitted request for sending. Its signature covers the headers, so it is made last. */
async function sendingOf(
  core: Core,
  { request, to, route }: Incoming,
  { filled, key, secrets }: Authorized,
): Promise<Permitted['sending']> {
  const own = route?.headers ?? {}
  const safe = secrets.length > 0 ? withoutOverrides(filled.headers, own) : filled.headers
  const headers = hidden(core, secrets).length > 0 ? unpacked(safe) : safe
  const ready = { target: filled.target, body: filled.body, headers, method: request.method! }
  const { maxRequestBodyBytes: bytesMax } = core.config
  if (key) return { ...ready, ...(await signed(request, ready, key, { host: authorityOf(to), bytesMax })) }
  if (filled.body !== null || !hasBody(request)) return ready
  return { ...ready, headers: [...headers, ...framing(pairs(request.rawHeaders))], body: request }
}

/** Reads the body once, however often it is requested. */
function wholeBody({ config }: Core, request: IncomingMessage): () => Promise<Buffer> {
  let whole: Promise<Buffer> | undefined
  const read = async () => {
    const hint =
      ', and the proxy reads it whole because the rule allows placeholders in it; with in = ["header"] it can be larger'
    const body = await readBody(request, config.maxRequestBodyBytes, 413, hint)
    checkTrailers(request.rawTrailers)
    return body
  }
  return () => {
    whole ??= read()
    return whole
  }
}

/** A rule covers its host only on the usual port of the scheme, unless the settings name other ports. */
function permitsPort({ config }: Core, { route, to }: Incoming): boolean {
  if (route) return true
  const ports = config.forward?.hosts.get(to.host)?.ports ?? config.policy.ports
  return (
    ports?.some(({ from, to: last }) => from <= to.port && to.port <= last) ?? to.port === defaultPorts[to.protocol]
  )
}

/** A route's own headers replace those of the client. */
function withOwn(headers: Headers, route: Route | null): Headers {
  const own = Object.entries(route?.headers ?? {})
  if (own.length === 0) return headers
  const names = new Set(own.map(([name]) => name))
  return [...headers.filter(([name]) => !names.has(name.toLowerCase())), ...own]
}

/** The answer is searched for secrets, so an uncompressed one is requested. */
const unpacked = (headers: Headers): Headers => [
  ...headers.filter(([name]) => !isNamed(name, 'accept-encoding')),
  ['Accept-Encoding', 'identity'],
]

function withLength(sending: Sending): Sending {
  const { method, body, headers } = sending
  const isSaid = valuesOf(headers, 'content-length').length > 0
  if (isSaid || (body === null && !/^(?:POST|PUT|PATCH)$/.test(method))) return sending
  return { ...sending, headers: [...headers, ['Content-Length', String(body?.length ?? 0)]] }
}

/** How long to read from a client that is still sending. To close earlier could lose the answer. */
const lingerMs = 5000

/** Sends a refusal. If the client is still sending, its connection ends with the refusal. */
export function refuse(request: IncomingMessage, response: ServerResponse, refusal: Refusal): void {
  if (response.headersSent) return void response.destroy()
  const own = request.complete ? [] : ['Connection', 'close']
  const type = ['Content-Type', 'text/plain; charset=utf-8', 'Content-Length', String(Buffer.byteLength(refusal.body))]
  // The status text is set too, because a failed answer may have left its own text.
  response.writeHead(refusal.status, STATUS_CODES[refusal.status], [...type, ...refusal.headers, ...own])
  if (request.complete) return void response.end(refusal.body)
  response.write(refusal.body)
  const end = () => {
    clearTimeout(timer)
    response.end()
  }
  const timer = setTimeout(end, lingerMs)
  request.once('close', end).once('end', end).resume()
}

export const refusalOf = (error: unknown): Refusal =>
  error instanceof Refusal ? error : new Refusal(500, 'internal', 'the proxy failed; its output has the cause')
