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
import { EventStream, sendEvents } from './event-stream.ts'
import { serveFastPaths } from './fast-path.ts'
import { warnOfProxies } from './forwarded.ts'
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
    /** Set by the first hook of each API route; absent if no route matched. */
    origin: Origin
    /** Null if the route requires no credential. */
    identified: Identified | null
  }
  interface FastifyContextConfig {
    /** True if the route authenticates the request, and so detects refused tokens. */
    identifies?: boolean
  }
}

/** The default of Node plus the longest note: percent-encoded, a character has up to 12 bytes. */
const headBytesMax = 16 * 1024 + 12 * limits.noteCharacters

/** Creates the HTTP server for these routes. */
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
    // The limit is that of a request line. The rules of the path parameters refuse longer values.
    routerOptions: { maxParamLength: headBytesMax },
    // Requests during shutdown are still served (http/close.ts). A 503 from Fastify would not have our error format.
    return503OnClosing: false,
    http: { maxHeaderSize: headBytesMax, requireHostHeader: false },
    // The default of Node. Without it, a request that arrives slowly could keep its connection without limit.
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
  warnOfProxies(app.server, context)
  allowOrigins(app, context)
  const noSuchPath = () => fail('not_found', 'no such path')
  // Runs before the body is read. A thief who tries a decoy may not know our paths, so unknown paths are checked, too.
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
  mountRaw(app, context, rawRoutes)
  return app
}

/** `POST /signup` also signs up, for clients that know only the base URL. A GET of that path is a page. */
const aliased = ({ method, url = '/' }: { method?: string; url?: string }): string =>
  method === 'POST' && pathOf(url) === '/signup' ? `/v1${url}` : url

function requestIds(): () => string {
  const boot = newId('audit').slice(4, 12)
  let count = 0
  return () => `req_${boot}${(count++).toString(36)}`
}

/**
 * Accepts JSON in UTF-8, and the form that OAuth libraries send to the token endpoint. An empty body counts as no body.
 */
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
      // The message of JSON.parse quotes the input, which may be a secret.
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

/** OAuth libraries send a form to this endpoint, and expect errors in the format of RFC 6749. */
const isTokenRequest = ({ routeOptions }: FastifyRequest): boolean => routeOptions.url === oauth.token.path

const isEncoded = ({ headers }: FastifyRequest): boolean => !/^(?:identity)?$/i.test(headers['content-encoding'] ?? '')
const encoded = () => fail('invalid_request', 'body: send it as it is, without content-encoding')

/** Throws on invalid UTF-8. Otherwise U+FFFD would be stored instead. */
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
    // Runs before the body is read, so that nobody without a credential can make the server parse two megabytes.
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
      if (answer instanceof EventStream) {
        reply.headers({ ...always, 'x-request-id': request.id })
        sayLimit(request, reply)
        return sendEvents(reply.raw, answer, headersOf(reply.hijack()))
      }
      return answerWith(request, reply, answer instanceof Reply ? answer : new Reply(status, answer))
    },
  })
}

/** The headers that hooks have added, such as the CORS headers. */
const headersOf = (reply: FastifyReply): string[] =>
  Object.entries(reply.getHeaders()).flatMap(([name, value]) => [name, String(value)])

/**
 * How far the cache of tokens may authenticate a caller. A unit that acts outside a transaction looks the caller up
 * first.
 */
function memoryFor({ endpoint, shortcuts }: AnyRoute): Asking['memory'] {
  if (endpoint.unit === 'manual' || endpoint.bodyBytes > limits.bodyBytes) return 'none'
  if (endpoint.unit === 'transaction') return 'unconfirmed'
  return shortcuts.fastPath ? 'current' : 'none'
}

/** Lets a large body be read only for callers who may send it, and only for a few at a time. */
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
 * The default headers of every answer. No cache between server and client may keep an answer meant for one client (RFC
 * 6749 section 5.1 demands it for tokens). No browser may interpret JSON as another type.
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

/** Adds the rate limit headers of a request. Without a matching route there are none. */
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

/** The origin of a request that Fastify never sees. */
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

/**
 * Converts every thrown value to the one error format. An unknown error becomes `internal`: the log gets it, and the
 * answer reveals nothing.
 */
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
    if (isForeignKeyViolation(error)) return fail('not_found', 'something that this needs was just deleted')
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
  // An outage of the database has only one log line, without request ids.
  if (isConnectionError(error)) return fail('internal', 'the server failed; its log has the reason')
  return fail('internal', 'the server failed; the log has this request’s id')
}

/** Fastify's own refusals of requests that it could not read, with our messages and statuses. */
function parsingRefusal(error: unknown, bodyBytes: number): Refusal | undefined {
  const code = (error as { code?: unknown }).code
  if (code === 'FST_ERR_CTP_BODY_TOO_LARGE') return fail('invalid_request', `body: larger than ${bodyBytes} bytes`)
  if (code === 'FST_ERR_CTP_INVALID_MEDIA_TYPE') return fail('invalid_request', 'body: send application/json')
  const status = (error as { statusCode?: unknown }).statusCode
  if (typeof status === 'number' && status >= 400 && status < 500)
    return fail('invalid_request', 'the request could not be read')
}

/** Logs the pattern of the path, never the path, because a path names organizations. */
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
