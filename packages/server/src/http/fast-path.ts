import type { RequestListener, Server } from 'node:http'
import type { Counted } from '../kernel/rate-limits.ts'
import type { Context } from './context.ts'
import type { InFlight } from './in-flight.ts'
import { pathOf, rawQueryOf } from './perform.ts'
import { sendPrebuilt } from './prebuilt-response.ts'
import type { FastPath, Route } from './route.ts'
import { findHostFault } from './unreadable.ts'

/**
 * Calls the routes that answer from memory before Fastify sees a request. Fastify would find a route, parse the query
 * and create request and reply objects, which costs more than the answer. It serves all other requests as usual.
 */
export function serveFastPaths<C extends Context>(
  server: Server,
  context: C,
  routes: readonly Route<C>[],
  inFlight: InFlight,
  newRequestId: () => string,
): void {
  const byPath = new Map<string, FastPath<C>>()
  for (const { endpoint, shortcuts } of routes)
    if (shortcuts.fastPath && endpoint.method === 'GET') byPath.set(endpoint.path, shortcuts.fastPath)
  const isLogged = context.log.enabled('debug')
  const [framework] = server.listeners('request') as [RequestListener]
  server.off('request', framework)
  server.on('request', (request, response) => {
    const url = request.url as string
    const fastPath = request.method === 'GET' ? byPath.get(pathOf(url)) : undefined
    // While the server closes, Fastify answers, because it tells clients to close their connections.
    const isUsual =
      fastPath && server.listening && findHostFault(request) === null && request.headers.origin === undefined
    const counted: Counted = {}
    const prebuilt = isUsual ? fastPath(context, request, rawQueryOf(url), counted) : undefined
    // If the answer does not fit the buffer, Fastify serves the request and refuses it.
    const caller = request.headers.authorization ?? ''
    if (!prebuilt || !inFlight.admits(response, caller, prebuilt)) return framework(request, response)
    const requestId = newRequestId()
    sendPrebuilt(response, requestId, prebuilt, counted.limitHeaders)
    if (isLogged)
      context.log.debug('request', { requestId, method: 'GET', route: pathOf(url), status: prebuilt.status })
  })
}
