import { type IncomingMessage, ServerResponse, STATUS_CODES } from 'node:http'
import type { Duplex } from 'node:stream'
import type { Core } from './core.ts'
import { acceptedBy, answered, type Incoming, permit, traced } from './handle.ts'
import { type Headers, pairs } from './headers.ts'
import { hidden, pass, redactionsOf, tell } from './response.ts'
import type { Upgraded } from './upstream.ts'

/** Whether a request opens a WebSocket. A request for another protocol is handled as an ordinary request. */
export const isWebSocket = (request: IncomingMessage): boolean =>
  request.method === 'GET' && request.headers.upgrade?.toLowerCase() === 'websocket'

/** Builds a response for an upgrade that does not happen, because the server hands over only the bare connection. */
export function responseOn(request: IncomingMessage, socket: Duplex): ServerResponse {
  const response = new ServerResponse(request)
  response.shouldKeepAlive = false
  response.assignSocket(socket as Parameters<ServerResponse['assignSocket']>[0])
  response.once('finish', () => socket.end())
  return response
}

/**
 * Handles a WebSocket. Its request is checked and filled in like any other. Its data is passed on unchanged in both
 * directions: frames have lengths, so nothing in them can be replaced.
 */
export async function handleUpgrade(core: Core, incoming: Incoming, socket: Duplex, head: Buffer): Promise<void> {
  const response = responseOn(incoming.request, socket)
  await answered(core, incoming, response, async (signal, observed) => {
    const { sending, secrets, permission, event } = await permit(core, incoming, signal)
    observed?.permitted(permission)
    observed?.sent()
    const found = await core.upstreams.upgrade(incoming.to, { ...traced(core, sending, observed), body: null }, signal)
    observed?.heard()
    if (!('head' in found)) {
      await pass(core, found, response, secrets, event, acceptedBy(incoming.request))
      return
    }
    observed?.end(101)
    response.detachSocket(socket as Parameters<ServerResponse['detachSocket']>[0])
    const wanted = hidden(core, secrets)
    const redactions = wanted.length === 0 ? null : redactionsOf(core, wanted)
    join(socket, head, found, redactions?.headers ?? ((headers) => headers))
    if (redactions) tell(core, redactions.counts, event)
  })
}

function join(
  socket: Duplex,
  head: Buffer,
  { response, socket: upstream, head: first }: Upgraded,
  redacted: (headers: Headers) => Headers,
) {
  const lines = redacted(pairs(response.rawHeaders)).map(([name, value]) => `${name}: ${value}\r\n`)
  socket.write(`HTTP/1.1 101 ${STATUS_CODES[101]}\r\n${lines.join('')}\r\n`, 'latin1')
  socket.write(first)
  upstream.write(head)
  both(socket, upstream)
}

/** Copies bytes both ways until either side ends. */
export function both(one: Duplex, other: Duplex): void {
  for (const [from, to] of [
    [one, other],
    [other, one],
  ] as const) {
    from.on('error', () => to.destroy())
    from.on('close', () => to.destroy())
    from.pipe(to)
  }
}
