import type { RequestListener, Server } from 'node:http'
import type { Counted } from '../kernel/rate-limits.ts'
import type { Context } from './context.ts'
import type { InFlight } from './in-flight.ts'
import { pathOf, rawQueryOf } from './perform.ts'
import { sendPrebuilt } from './prebuilt-response.ts'
import type { FastPath, Route } from './route.ts'
import { findHostFault } from './unreadable.ts'

/**
 * Asks the routes that answer from memory before the framework sees a request: finding a route, parsing a query and making
 * its own request and reply is more work than the answer. What they leave, and all others, it serves as ever.
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
    // A server that closes has the framework tell connections so.
    const isUsual =
      fastPath && server.listening && findHostFault(request) === null && request.headers.origin === undefined
    const counted: Counted = {}
    const prebuilt = isUsual ? fastPath(context, request, rawQueryOf(url), counted) : undefined
    // Where there is no room for it, the framework says so.
    const caller = request.headers.authorization ?? ''
    if (!prebuilt || !inFlight.admits(response, caller, prebuilt)) return framework(request, response)
    const requestId = newRequestId()
    sendPrebuilt(response, requestId, prebuilt, counted.limitHeaders)
    if (isLogged)
      context.log.debug('request', { requestId, method: 'GET', route: pathOf(url), status: prebuilt.status })
  })
}
