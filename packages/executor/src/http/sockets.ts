import type { IncomingMessage, Server } from 'node:http'
import type { Duplex } from 'node:stream'
import { isWebSocket, responseOn } from '@skerry/proxy/websocket'
import type { WebSocket } from 'ws'
import { driven } from '../browser/cdp/relay.ts'
import type { Executor } from '../executor.ts'
import { watched } from '../live/view.ts'
import { fail, refusalOf } from './refusal.ts'
import { checkBackend, refuse } from './server.ts'

/** Handles a WebSocket once it is connected. */
type Taker = (socket: WebSocket) => void

interface SocketRoute {
  path: RegExp
  /** Checks the caller before the connection is switched to a WebSocket. */
  admit(executor: Executor, request: IncomingMessage, id: string): Taker
}

/** The WebSocket routes. */
const routes: SocketRoute[] = [
  {
    path: /^\/live\/socket$/,
    admit(executor, { headers }) {
      if (headers.origin !== executor.origin)
        throw fail('not_allowed', 'only the page of the live view may connect here')
      return (socket) => watched(executor, socket)
    },
  },
  {
    path: /^\/v1\/browser\/cdp\/(vls_[0-9a-f]{32})$/,
    admit(executor, request, leaseId) {
      checkBackend(executor, request)
      return driven(executor, leaseId)
    },
  },
]

const messageMaxBytes = 1024 * 1024

export function acceptSockets(server: Server, executor: Executor): void {
  const accept = async (request: IncomingMessage, socket: Duplex, head: Buffer) => {
    const path = URL.parse(request.url ?? '', executor.origin)?.pathname ?? ''
    const route = routes.find((one) => one.path.test(path))
    if (!route || !isWebSocket(request)) throw fail('not_found', 'this path does not exist')
    const take = route.admit(executor, request, route.path.exec(path)?.[1] ?? '')
    const { WebSocketServer } = await import('ws')
    const sockets = new WebSocketServer({ noServer: true, maxPayload: messageMaxBytes })
    sockets.handleUpgrade(request, socket, head, (made) => {
      // A message that is too long, or a broken connection, ends the connection. There is nobody to report it to.
      made.on('error', () => {})
      take(made)
    })
  }
  server.on('upgrade', (request, socket, head) => {
    socket.on('error', () => {})
    accept(request, socket, head).catch((error) => {
      const refusal = refusalOf(error)
      if (refusal.code === 'internal') executor.warn('internal: a connection')
      refuse(request, responseOn(request, socket), refusal)
    })
  })
}
