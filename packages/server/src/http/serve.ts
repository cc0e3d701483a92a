import type { IncomingMessage } from 'node:http'
import type { Responses } from '@skerry/contract/endpoint'
import { limits } from '@skerry/contract/limits'
import { oauth } from '@skerry/contract/oauth/endpoints'
import { oauthErrorOf } from '@skerry/contract/oauth/schemas'
import Fastify, { type FastifyInstance, type FastifyReply, type FastifyRequest } from 'fastify'
import { isConnectionError, isDiskFull, isForeignKeyViolation } from '../db/sql-errors.ts'
import { type Asking, authenticate } from '../identity/authenticate.ts'
import { noteRefusedToken } from '../identity/decoy-watch.ts'
import { type Origin, recordDenial } from '../kernel/audit.ts'
import { newId } from '../kernel/context.ts'
import { CommittedRefusal, fail, Refusal } from '../kernel/errors.ts'
import type { Identified } from '../kernel/principal.ts'
import { boundConnections } from './connections.ts'
import type { Context } from './context.ts'
import { allowOrigins } from './cors.ts'
import { serveFastPaths } from './fast-path.ts'
import { warnOfUntrustedProxies } from './forwarded.ts'
import { type InFlight, openInFlight, tooManyInFlight } from './in-flight.ts'
import { type LargeBodies, openLargeBodies } from './large-bodies.ts'
import { nestsDeeper } from './nesting.ts'
import { pathOf, performer, rawQueryOf } from './perform.ts'
import { json, PrebuiltResponse, sendPrebuilt } from './prebuilt-response.ts'
import { mountRaw, type RawRoute } from './raw.ts'
import { type AnyRoute, Reply, type Route } from './route.ts'
import { Streamed } from './streamed.ts'
import { answerUnreadable, answerUnusual, findHostFault, unreadablePath } from './unreadable.ts'
import { type Checks, compileChecks } from './validate.ts'

declare module 'fastify' {
  interface FastifyRequest {
    /** Set by the first hook of every route of ours; absent where no route matched. */
    origin: Origin
    /** Null where the route asks for no credential. */
    identified: Identified | null
  }
  interface FastifyContextConfig {
    /** Whether the route looks at the credential of a request, and so at what it is worth. */
    identifies?: boolean
  }
}

/** What Node allows otherwise, and the longest note: percent-encoded, a character has up to 12 bytes. */
const headBytesMax = 16 * 1024 + 12 * limits.noteCharacters

/** Makes the HTTP server of these routes. */
export function serve<C extends Context>(
  context: C,
  routes: readonly Route<C>[],
  rawRoutes: readonly RawRoute[],
): FastifyInstance {
  const newRequestId = requestIds()
  const app = Fastify({
    logger: false,
    bodyLimit: limits.bodyBytes,
    trustProxy: context.config.trustedProxies.length > 0 ? context.config.trustedProxies : false,
    genReqId: newRequestId,
    rewriteUrl: aliased,
    // As long as a request line can be: what is too long, the table of parameters says.
    routerOptions: { maxParamLength: headBytesMax },
    // What comes while the server closes is served by what is still open (http/close.ts): 503 is no refusal of ours.
    return503OnClosing: false,
    http: { maxHeaderSize: headBytesMax, requireHostHeader: false },
    // What Node would do by itself: a request that trickles in would keep its connection for as long as it likes.
    requestTimeout: 300_000,
    frameworkErrors: (_error, request, reply) => {
      noteRefusedToken(context, request.raw, originOf(request))
      void refuse(context, request, reply, unreadablePath())
    },
    clientErrorHandler: answerUnreadable,
  })
  answerUnusual(app.server, (request) => noteRefusedToken(context, request, bareOrigin(request)))
  app.decorateRequest('origin')
  app.decorateRequest('identified', null)
  acceptBodies(app)
  boundConnections(app.server, context)
  warnOfUntrustedProxies(app.server, context)
  allowOrigins(app, context)
  const noSuchPath = () => fail('not_found', 'no such path')
  // Before the body is read, here too. A thief who tries a decoy may not know our paths, so unknown ones are noted as well.
  app.addHook('onRequest', (request, _reply, done) => {
    const hostFault = findHostFault(request.raw)
    if (hostFault !== null || request.is404 || !request.routeOptions.config.identifies)
      noteRefusedToken(context, request.raw, originOf(request))
    if (hostFault !== null) return done(fail('invalid_request', hostFault))
    done(request.is404 ? noSuchPath() : undefined)
  })
  app.setNotFoundHandler((request, reply) => refuse(context, request, reply, noSuchPath()))
  app.setErrorHandler((error, request, reply) => refuse(context, request, reply, error))
  if (context.log.enabled('debug')) logRequests(app, context)
  const inFlight = openInFlight(context.config.resolveInFlightBytes)
  serveFastPaths(app.server, context, routes, inFlight, newRequestId)
  const largeBodies = openLargeBodies()
  for (const route of routes) mount(app, context, route, largeBodies, inFlight)
  mountRaw(app, context, routes, rawRoutes)
  return app
}

/** `POST /signup` is signing up too, for clients that know only where the service is; a GET of it is a page. */
const aliased = ({ method, url = '/' }: { method?: string; url?: string }): string =>
  method === 'POST' && pathOf(url) === '/signup' ? `/v1${url}` : url

function requestIds(): () => string {
  const boot = newId('audit').slice(4, 12)
  let count = 0
  return () => `req_${boot}${(count++).toString(36)}`
}

/** JSON in UTF-8; and the form that OAuth libraries send to the token endpoint. An empty body is no body. */
function acceptBodies(app: FastifyInstance) {
  app.removeAllContentTypeParsers()
  app.addContentTypeParser('application/json', { parseAs: 'buffer' }, (request, bytes, done) => {
    if (bytes.length === 0) return done(null, undefined)
    if (isEncoded(request)) return done(encoded())
    if (nestsDeeper(bytes as Buffer, limits.jsonLevels))
      return done(fail('invalid_request', `body: is nested deeper than ${limits.jsonLevels} levels`))
    let body: unknown
    try {
      body = JSON.parse(utf8.decode(bytes as Buffer))
    } catch {
      // JSON.parse quotes what it chokes on, and that may be a secret.
      return done(fail('invalid_request', 'body: is not JSON'))
    }
    done(null, body)
  })
  app.addContentTypeParser('application/x-www-form-urlencoded', { parseAs: 'string' }, (request, text, done) => {
    if (isEncoded(request)) return done(encoded())
    if (!isTokenRequest(request)) return done(fail('invalid_request', 'body: send JSON'))
    const fields = new URLSearchParams(text as string)
    // RFC 6749 section 3.2: parameters must not be included more than once.
    if (new Set(fields.keys()).size < fields.size) return done(fail('invalid_request', 'body: a parameter comes twice'))
    done(null, Object.fromEntries(fields))
  })
}

/** OAuth libraries send a form there, and read refusals as RFC 6749 has them. */
const isTokenRequest = ({ routeOptions }: FastifyRequest): boolean => routeOptions.url === oauth.token.path

const isEncoded = ({ headers }: FastifyRequest): boolean => !/^(?:identity)?$/i.test(headers['content-encoding'] ?? '')
const encoded = () => fail('invalid_request', 'body: send it as it is, without content-encoding')

/** Refuses what is no UTF-8, rather than storing U+FFFD in its place. */
const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })

function mount<C extends Context>(
  app: FastifyInstance,
  context: C,
  route: Route<C>,
  largeBodies: LargeBodies,
  inFlight: InFlight,
) {
  const { endpoint } = route
  const checks = compileChecks(endpoint)
  const perform = performer(context, route, checks)
  const status = successStatus(endpoint.responses)
  const takesLarge = endpoint.bodyBytes > limits.bodyBytes
  const asking = { surface: endpoint.surface, memory: memoryFor(route) }
  app.route({
    method: endpoint.method,
    url: endpoint.path,
    bodyLimit: endpoint.bodyBytes,
    config: { identifies: endpoint.surface !== 'none' },
    // Before the body is read: nobody without a credential gets us to parse two megabytes.
    onRequest: (request, _reply, done) => {
      const origin = originOf(request)
      request.origin = origin
      if (endpoint.surface === 'none') return done()
      authenticate(context, request.raw, origin, asking).then((identified) => {
        request.identified = identified
        origin.principal = identified.principal
        done()
      }, done)
    },
    ...(takesLarge && { preParsing: admission(context, route, checks, largeBodies) }),
    handler: async (request, reply) => {
      const answer = await perform(request)
      if (answer instanceof CommittedRefusal) throw answer.refusal
      if (answer instanceof PrebuiltResponse) {
        if (!inFlight.admits(reply.raw, request.headers.authorization ?? '', answer)) throw tooManyInFlight()
        sayLimit(request, reply)
        return sendPrebuilt(reply.raw, request.id, answer, headersOf(reply.hijack()))
      }
      if (answer instanceof Streamed) {
        reply.headers({ ...always, 'x-request-id': request.id })
        sayLimit(request, reply)
        return reply.code(status).type(json).send(answer.sentTo(reply.raw))
      }
      return answerWith(request, reply, answer instanceof Reply ? answer : new Reply(status, answer))
    },
  })
}

/** What hooks have added, such as who may read the answer from another origin. */
const headersOf = (reply: FastifyReply): string[] =>
  Object.entries(reply.getHeaders()).flatMap(([name, value]) => [name, String(value)])

/** How far memory may say who asks. One that acts outside of a transaction looks its caller up first. */
function memoryFor({ endpoint, shortcuts }: AnyRoute): Asking['memory'] {
  if (endpoint.unit === 'manual' || endpoint.bodyBytes > limits.bodyBytes) return 'none'
  if (endpoint.unit === 'transaction') return 'unconfirmed'
  return shortcuts.fastPath ? 'current' : 'none'
}

/** A body beyond the usual is read for those alone who may send it, and for few of them at a time. */
const admission =
  (context: Context, { access }: AnyRoute, checks: Checks, largeBodies: LargeBodies) =>
  async (request: FastifyRequest, reply: FastifyReply): Promise<void> => {
    const params = checks.params(request.params)
    const rawQuery = rawQueryOf(request.url)
    const { origin } = request
    await access.resolve(
      { context, db: context.db, principal: origin.principal, ipAddress: request.ip, rawQuery, counted: origin },
      params,
    )
    largeBodies.admit(request.raw, reply.raw, origin.principal?.id ?? '')
  }

/**
 * For every answer that does not say otherwise. Nothing between us and a client keeps what was meant for one (of tokens RFC
 * 6749 section 5.1 demands it), and no browser takes JSON for anything else.
 */
const always = { 'cache-control': 'no-store', 'x-content-type-options': 'nosniff' }

function answerWith(
  request: FastifyRequest,
  reply: FastifyReply,
  { status, body, headers }: Reply<unknown>,
): FastifyReply {
  reply.headers({ ...always, 'x-request-id': request.id, ...headers })
  sayLimit(request, reply)
  return send(reply.code(status), body)
}

/** What the limit that counted a request has left for its caller. Where no route matched, none did. */
function sayLimit({ origin }: FastifyRequest, reply: FastifyReply) {
  const said = origin?.limitHeaders ?? []
  for (let at = 0; at < said.length; at += 2) reply.header(said[at] as string, said[at + 1])
}

function originOf(request: FastifyRequest): Origin {
  return {
    principal: null,
    ipAddress: request.ip,
    userAgent: request.headers['user-agent'] ?? null,
    requestId: request.id,
  }
}

/** Of a request that the framework never sees. */
const bareOrigin = ({ socket, headers }: IncomingMessage): Origin => ({
  principal: null,
  ipAddress: socket.remoteAddress ?? null,
  userAgent: headers['user-agent'] ?? null,
  requestId: null,
})

function successStatus(responses: Responses): number {
  const first = Object.keys(responses)[0]
  if (!first) throw new Error('an endpoint answers something')
  return Number(first)
}

const send = (reply: FastifyReply, body: unknown): FastifyReply => reply.type(json).send(JSON.stringify(body))

/** Turns anything thrown into the one error shape. What it does not know is `internal`: logged, and tells nothing. */
async function refuse(
  context: Context,
  request: FastifyRequest,
  reply: FastifyReply,
  error: unknown,
): Promise<FastifyReply> {
  const refusal = await asRefusal(context, request, error)
  reply.headers({ ...always, 'x-request-id': request.id })
  sayLimit(request, reply)
  if (refusal.retryAfterSeconds !== undefined) reply.header('retry-after', String(refusal.retryAfterSeconds))
  const { code, status, message } = refusal
  if (isTokenRequest(request)) {
    if (code === 'unauthorized') reply.header('www-authenticate', 'Basic realm="skerry"')
    return send(reply.code(status), oauthErrorOf(code, message))
  }
  if (code === 'unauthorized') reply.header('www-authenticate', 'Bearer')
  return send(reply.code(status), { error: { code, message } })
}

async function asRefusal(context: Context, request: FastifyRequest, error: unknown): Promise<Refusal> {
  try {
    if (error instanceof Refusal) {
      const { origin } = request
      if (error.denial && origin) await recordDenial(context, origin, error.denial)
      return error
    }
    if (isForeignKeyViolation(error)) return fail('not_found', 'what this hangs on has just been deleted')
    const parsing = parsingRefusal(error, request.routeOptions.bodyLimit)
    if (parsing) return parsing
  } catch (failure) {
    error = failure
  }
  if (isDiskFull(error)) {
    context.fullDisk.note()
    return fail('internal', 'the disk of the database is full: nothing was changed')
  }
  const { id: requestId, method, routeOptions } = request
  context.faults.error('request failed', error, { requestId, method, route: routeOptions.url })
  // The log has one line for an outage of the database, without the ids of requests.
  if (isConnectionError(error)) return fail('internal', 'the server failed; its log has the reason')
  return fail('internal', 'the server failed; the log has this request’s id')
}

/** Fastify's own refusals of requests that it could not read, in our words and statuses. */
function parsingRefusal(error: unknown, bodyBytes: number): Refusal | undefined {
  const code = (error as { code?: unknown }).code
  if (code === 'FST_ERR_CTP_BODY_TOO_LARGE') return fail('invalid_request', `body: larger than ${bodyBytes} bytes`)
  if (code === 'FST_ERR_CTP_INVALID_MEDIA_TYPE') return fail('invalid_request', 'body: send application/json')
  const status = (error as { statusCode?: unknown }).statusCode
  if (typeof status === 'number' && status >= 400 && status < 500)
    return fail('invalid_request', 'the request could not be read')
}

/** The pattern of the path, never the path: it names tenants. */
function logRequests(app: FastifyInstance, { log }: Context) {
  app.addHook('onResponse', async (request, reply) => {
    log.debug('request', {
      requestId: request.id,
      method: request.method,
      route: request.routeOptions.url,
      status: reply.statusCode,
      ms: Math.round(reply.elapsedTime * 10) / 10,
    })
  })
}
