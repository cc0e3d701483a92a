import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo, Socket } from 'node:net'
import { pipeline } from 'node:stream'
import { TLSSocket } from 'node:tls'
import { isLoopback } from '@skerry/contract/loopback'
import { checkHost, type Place, parseAbsolute, parsePlace } from './authorities.ts'
import type { Authority } from './authority.ts'
import type { Core } from './core.ts'
import { handle, type Incoming, refusalOf, refuse } from './handle.ts'
import { checkForm, checkTarget, endToEnd, framing, pairs, requestHeaders, ticketOf } from './headers.ts'
import { badRequest, Refusal, sentences } from './refusal.ts'
import { upstreamFailure } from './upstream.ts'
import { both, handleUpgrade, isWebSocket, responseOn } from './websocket.ts'

/** The destination and ticket of a CONNECT, for the requests inside it. */
interface Tunnel extends Place {
  ticket: string | undefined
}

/**
 * The forward proxy. It intercepts the hosts that a policy names: it reads, checks and fills in their requests. All
 * other traffic is passed through unchanged or refused, depending on the settings.
 *
 * @param routes the listener of the reverse routes. A program that sends everything through the proxy reaches them
 * here, although their address is on this machine.
 */
export function forwardServer(core: Core, authority: Authority, routes: Server | null): Server {
  const inner = innerServer(core)
  const server = createServer({ shouldUpgradeCallback: isWebSocket }, (request, response) => {
    guarded(request, response, async () => {
      if (asksRoutes(core, routes, request)) routes.emit('request', request, response)
      else await absolute(core, request, response)
    })
  })
  server.on('upgrade', (request, socket, head) => {
    socket.on('error', () => {})
    guarded(
      request,
      () => responseOn(request, socket),
      async () => {
        if (asksRoutes(core, routes, request)) return void routes.emit('upgrade', request, socket, head)
        const { target, ...place } = parseAbsolute(request.url!)
        await handleUpgrade(core, askedFor(core, request, place, target, 'http:'), socket, head)
      },
    )
  })
  server.on('connect', (request, socket: Socket, head) => {
    socket.on('error', () => {})
    guarded(
      request,
      () => responseOn(request, socket),
      async () => {
        if (isForRoutes(core, routes, parsePlace(request.url!, null))) connectRoutes(routes, request, socket, head)
        else await connected(core, inner, authority, request, socket, head)
      },
    )
  })
  server.on('close', () => inner.closeAllConnections())
  return server
}

/**
 * Whether a destination is the listener of the routes. The port in the settings counts too: a listener for a task may
 * use another.
 */
function isForRoutes({ config }: Core, routes: Server | null, { host, port }: Place): routes is Server {
  const own = routes?.address() as AddressInfo | null | undefined
  if (!own || (own.port !== port && config.listen.port !== port)) return false
  const isAny = /^(?:::|0\.0\.0\.0)$/.test(own.address)
  return host === own.address || (isLoopback(host) && (isAny || isLoopback(own.address)))
}

/** Whether a request without CONNECT is for the routes. It then gets the URL of a request to their listener. */
function asksRoutes(core: Core, routes: Server | null, request: IncomingMessage): routes is Server {
  const { target, ...place } = parseAbsolute(request.url!)
  if (!isForRoutes(core, routes, place)) return false
  checkHost(request.headers.host, place)
  request.url = target
  return true
}

function connectRoutes(routes: Server, request: IncomingMessage, socket: Socket, head: Buffer): void {
  checkHost(request.headers.host, parsePlace(request.url!, null))
  // The ticket would not apply to the requests inside, so they could do more than it permits.
  if (ticketOf(pairs(request.rawHeaders)) !== undefined)
    throw badRequest('send the ticket in the request and not with CONNECT')
  socket.write(established)
  if (head.length > 0) socket.unshift(head)
  routes.emit('connection', socket)
}

type Work = () => Promise<void>

async function guarded(
  request: IncomingMessage,
  to: ServerResponse | (() => ServerResponse),
  work: Work,
): Promise<void> {
  try {
    await work()
  } catch (error) {
    refuse(request, typeof to === 'function' ? to() : to, refusalOf(error))
  }
}

/** Refuses a host that no policy names, if the settings say so. */
function checkUnmatched(core: Core, { host }: Place, method: string): void {
  if (core.config.forward?.unmatchedHostPolicy !== 'deny') return
  core.activity?.record({ host, method, decision: 'no_rule', ruleIndex: null, version: undefined, secrets: [] })
  throw new Refusal(403, 'no_rule', sentences.no_rule)
}

function askedFor(
  core: Core,
  request: IncomingMessage,
  place: Place,
  target: string,
  protocol: 'http:' | 'https:',
): Incoming {
  checkHost(request.headers.host, place)
  if (!core.policies.covers(place.host)) checkUnmatched(core, place, request.method!)
  return { request, route: null, target: checkTarget(target), to: { protocol, ...place, isTrusted: false } }
}

/** Handles `GET http://host/path`. */
async function absolute(core: Core, request: IncomingMessage, response: ServerResponse): Promise<void> {
  const { target, ...place } = parseAbsolute(request.url!)
  const incoming = askedFor(core, request, place, target, 'http:')
  if (core.policies.covers(place.host)) await handle(core, incoming, response)
  else await untouched(core, incoming, response)
}

/**
 * Passes on a request to a host that no policy names, unchanged except for the ticket and the headers of the
 * connection.
 */
async function untouched(core: Core, { request, to, target }: Incoming, response: ServerResponse): Promise<void> {
  const headers = pairs(request.rawHeaders)
  checkForm(request, headers)
  const gone = new AbortController()
  response.once('close', () => gone.abort())
  try {
    const sending = { method: request.method!, target, headers: [...requestHeaders(headers), ...framing(headers)] }
    const answer = await core.upstreams.stream(to, sending, request, gone.signal)
    response.writeHead(answer.statusCode ?? 502, answer.statusMessage, endToEnd(pairs(answer.rawHeaders)).flat())
    pipeline(answer, response, () => {})
  } catch (error) {
    if (!gone.signal.aborted) throw upstreamFailure(error)
  }
}

const established = 'HTTP/1.1 200 Connection Established\r\n\r\n'

async function connected(
  core: Core,
  inner: InnerServer,
  authority: Authority,
  request: IncomingMessage,
  socket: Socket,
  head: Buffer,
): Promise<void> {
  const place = parsePlace(request.url!, null)
  checkHost(request.headers.host, place)
  if (core.policies.covers(place.host)) {
    const tunnel = { ...place, ticket: ticketOf(pairs(request.rawHeaders)) }
    const context = await authority.contextFor(place.host)
    socket.write(established)
    if (head.length > 0) socket.unshift(head)
    if (await beginsTls(socket)) {
      const secure = new TLSSocket(socket, { isServer: true, secureContext: context, ALPNProtocols: ['http/1.1'] })
      secure.on('error', () => socket.destroy())
      inner.take(secure, tunnel)
    } else inner.take(socket, tunnel)
    return
  }
  checkUnmatched(core, place, 'CONNECT')
  const upstream = await core.upstreams.tunnel({ ...place, isTrusted: false }).catch((error) => {
    throw upstreamFailure(error)
  })
  socket.write(established)
  upstream.write(head)
  both(socket, upstream)
}

const tlsHandshake = 0x16

/** Reads the first byte and puts it back. If a client sends nothing, the wait ends when its connection closes. */
async function beginsTls(socket: Socket): Promise<boolean> {
  for (;;) {
    const first: Buffer | null = socket.read(1)
    if (first !== null) {
      socket.unshift(first)
      return first[0] === tlsHandshake
    }
    const { promise, resolve } = Promise.withResolvers<void>()
    socket.once('readable', resolve).once('close', resolve)
    await promise
    if (socket.destroyed || socket.readableEnded) return false
  }
}

interface InnerServer {
  take(socket: Socket, tunnel: Tunnel): void
  closeAllConnections(): void
}

/** Reads the requests inside an intercepted connection. It listens on no port. */
function innerServer(core: Core): InnerServer {
  const tunnels = new WeakMap<object, Tunnel>()
  const incomingOf = (request: IncomingMessage): Incoming => {
    const tunnel = tunnels.get(request.socket)!
    const { ticket, ...place } = tunnel
    if (!request.url!.startsWith('/')) throw badRequest('a request inside CONNECT must name only a path')
    const protocol = request.socket instanceof TLSSocket ? 'https:' : 'http:'
    return { ...askedFor(core, request, place, request.url!, protocol), ticket }
  }
  const server = createServer({ shouldUpgradeCallback: isWebSocket }, (request, response) => {
    guarded(request, response, () => handle(core, incomingOf(request), response))
  })
  server.on('upgrade', (request, socket, head) => {
    socket.on('error', () => {})
    guarded(
      request,
      () => responseOn(request, socket),
      () => handleUpgrade(core, incomingOf(request), socket, head),
    )
  })
  return {
    take(socket, tunnel) {
      tunnels.set(socket, tunnel)
      server.emit('connection', socket)
    },
    closeAllConnections: () => server.closeAllConnections(),
  }
}
