import type { Responses } from '@skerry/contract/endpoint'
import { limits } from '@skerry/contract/limits'
import Fastify, { type FastifyInstance, type FastifyReply, type FastifyRequest } from 'fastify'
import { isForeignKeyViolation } from '../db/sql-errors.ts'
import { type Asking, authenticate, noteStrayToken } from '../identity/authenticate.ts'
import { type Context, newId } from '../kernel/context.ts'
import { CommittedRefusal, describe, fail, Refusal } from '../kernel/errors.ts'
import type { Identified } from '../kernel/principal.ts'
import { type Origin, recordDenial } from '../kernel/unit.ts'
import { serveFastPaths } from './fast-path.ts'
import { type LargeBodies, openLargeBodies } from './large-bodies.ts'
import { performer } from './perform.ts'
import { mountRaw, type RawRoute } from './raw.ts'
import { json, Ready, sendReady } from './ready.ts'
import { Reply, type Route } from './route.ts'
import { answerUnreadable, answerUnusual, lacksHost, unreadablePath } from './unreadable.ts'
import { type Checks, compileChecks } from './validate.ts'

declare module 'fastify' {
  interface FastifyRequest {
    /** Set by the first hook of every route of ours; absent where no route matched. */
    origin: Origin
    /** Null where the route asks for no credential. */
    identified: Identified | null
  }
}

/** What Node allows otherwise, and the longest note: percent-encoded, a character has up to 12 bytes. */
const headBytesMax = 16 * 1024 + 12 * limits.noteCharacters

/** Makes the HTTP server of these routes. */
export function serve(context: Context, routes: Route[], rawRoutes: RawRoute[]): FastifyInstance {
  const newRequestId = requestIds()
  const app = Fastify({
    logger: false,
    bodyLimit: limits.bodyBytes,
    trustProxy: context.config.trustedProxies.length > 0 ? context.config.trustedProxies : false,
    genReqId: newRequestId,
    // As long as a request line can be: what is too long, the table of parameters says.
    routerOptions: { maxParamLength: headBytesMax },
    // What comes while the server closes is served by what is still open (http/close.ts): 503 is no refusal of ours.
    return503OnClosing: false,
    http: { maxHeaderSize: headBytesMax, requireHostHeader: false },
    // What Node would do by itself: a request that trickles in would keep its connection for as long as it likes.
    requestTimeout: 300_000,
    frameworkErrors: (_error, request, reply) => void refuse(context, request, reply, unreadablePath()),
    clientErrorHandler: answerUnreadable,
  })
  answerUnusual(app.server)
  app.decorateRequest('origin')
  app.decorateRequest('identified', null)
  acceptBodies(app)
  const noSuchPath = () => fail('not_found', 'no such path')
  // Before the body is read, here too. Whoever tries a decoy may not know our paths.
  app.addHook('onRequest', (request, _reply, done) => {
    if (lacksHost(request.raw)) return done(fail('invalid_request', 'Host: is required'))
    if (!request.is404) return done()
    noteStrayToken(context, request.raw, originOf(request))
    done(noSuchPath())
  })
  app.setNotFoundHandler((request, reply) => refuse(context, request, reply, noSuchPath()))
  app.setErrorHandler((error, request, reply) => refuse(context, request, reply, error))
  if (context.log.enabled('debug')) logRequests(app, context)
  serveFastPaths(app.server, context, routes, newRequestId)
  const largeBodies = openLargeBodies()
  for (const route of routes) mount(app, context, route, largeBodies)
  mountRaw(app, context, routes, rawRoutes)
  return app
}

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
    if (request.routeOptions.url !== '/oauth/token') return done(fail('invalid_request', 'body: send JSON'))
    const fields = new URLSearchParams(text as string)
    // RFC 6749 section 3.2: parameters must not be included more than once.
    if (new Set(fields.keys()).size < fields.size) return done(fail('invalid_request', 'body: a parameter comes twice'))
    done(null, Object.fromEntries(fields))
  })
}

const isEncoded = ({ headers }: FastifyRequest): boolean => !/^(?:identity)?$/i.test(headers['content-encoding'] ?? '')
const encoded = () => fail('invalid_request', 'body: send it as it is, without content-encoding')

/** Refuses what is no UTF-8, rather than storing U+FFFD in its place. */
const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })

function mount(app: FastifyInstance, context: Context, route: Route, largeBodies: LargeBodies) {
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
    // Before the body is read: nobody without a credential gets us to parse two megabytes.
    onRequest: (request, _reply, done) => {
      const origin = originOf(request)
      request.origin = origin
      if (endpoint.surface === 'none') {
        noteStrayToken(context, request.raw, origin)
        return done()
      }
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
      if (answer instanceof Ready) return sendReady(reply.hijack().raw, request.id, answer)
      return answerWith(request, reply, answer instanceof Reply ? answer : new Reply(status, answer))
    },
  })
}

/** How far memory may say who asks. One that acts outside of a transaction looks its caller up first. */
function memoryFor({ endpoint, shortcuts }: Route): Asking['memory'] {
  if (endpoint.unit === 'manual' || endpoint.bodyBytes > limits.bodyBytes) return 'none'
  if (endpoint.unit === 'transaction') return 'unconfirmed'
  return shortcuts.fastPath ? 'current' : 'none'
}

/** A body beyond the usual is read for those alone who may send it, and for few of them at a time. */
const admission =
  (context: Context, { access }: Route, checks: Checks, largeBodies: LargeBodies) =>
  async (request: FastifyRequest, reply: FastifyReply): Promise<void> => {
    const params = checks.params(request.params)
    const { principal } = request.origin
    await access.resolve({ context, db: context.db, principal, ipAddress: request.ip }, params)
    largeBodies.admit(request.raw, reply.raw, principal?.id ?? '')
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
  return send(reply.code(status), body)
}

function originOf(request: FastifyRequest): Origin {
  return {
    principal: null,
    ipAddress: request.ip,
    userAgent: request.headers['user-agent'] ?? null,
    requestId: request.id,
  }
}

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
  if (refusal.retryAfterSeconds !== undefined) reply.header('retry-after', String(refusal.retryAfterSeconds))
  if (refusal.code === 'unauthorized') reply.header('www-authenticate', 'Bearer')
  return send(reply.code(refusal.status), { error: { code: refusal.code, message: refusal.message } })
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
  context.log.error('request failed', {
    requestId: request.id,
    method: request.method,
    route: request.routeOptions.url,
    ...describe(error),
  })
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
