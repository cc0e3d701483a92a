import { createServer, type IncomingMessage, type Server } from 'node:http'
import type { Route } from './config/config.ts'
import type { Core } from './core.ts'
import { handle, type Incoming, refusalOf, refuse } from './handle.ts'
import { checkTarget } from './headers.ts'
import { badRequest, Refusal } from './refusal.ts'
import { defaultPorts } from './upstream.ts'
import { handleUpgrade, isWebSocket, responseOn } from './websocket.ts'

/** Reverse routes: a request to this listener goes to the upstream of the longest prefix that matches. */
export function reverseServer(core: Core): Server {
  const server = createServer({ shouldUpgradeCallback: isWebSocket }, (request, response) => {
    try {
      void handle(core, routed(core.config.routes, request), response)
    } catch (error) {
      refuse(request, response, refusalOf(error))
    }
  })
  server.on('upgrade', (request, socket, head) => {
    socket.on('error', () => {})
    try {
      void handleUpgrade(core, routed(core.config.routes, request), socket, head)
    } catch (error) {
      refuse(request, responseOn(request, socket), refusalOf(error))
    }
  })
  return server
}

function routed(routes: readonly Route[], request: IncomingMessage): Incoming {
  const url = checkTarget(request.url!)
  // A page of another site sends this, in the browser of the person who runs the proxy.
  if (request.headers['sec-fetch-site'] === 'cross-site')
    throw badRequest('the request was sent by a web page of another site')
  const route = routes.find(({ prefix }) => url.startsWith(prefix) && /^[/?]?$/.test(url.charAt(prefix.length)))
  if (!route) throw new Refusal(404, 'no_route', 'no route matches this path')
  const rest = url.slice(route.prefix.length)
  const { protocol, port } = route.upstream as URL & { protocol: 'http:' | 'https:' }
  const host = route.upstream.hostname.replace(/^\[|\]$/g, '')
  return {
    request,
    route,
    target: rest.startsWith('/') ? rest : `/${rest}`,
    to: { protocol, host, port: port === '' ? defaultPorts[protocol] : Number(port), isTrusted: true },
  }
}
