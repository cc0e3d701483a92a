import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo, Socket } from 'node:net'
import { pipeline } from 'node:stream'
import { isLoopback } from '@skerry/contract/loopback'
import { type Place, parseAbsolute, parsePlace } from '@skerry/proxy/authorities'
import { checkForm, endToEnd, framing, pairs, requestHeaders } from '@skerry/proxy/headers'
import type { Upstreams } from '@skerry/proxy/upstream'
import { both } from '@skerry/proxy/websocket'
import { covers, type Domain } from '../config/site.ts'

/** The proxy through which a browser sends all of its requests. */
export interface Gate {
  url: string
  close(): void
}

/**
 * Opens a proxy on the loopback interface. It connects only to the hosts of a site, at addresses that the executor may
 * reach. It runs outside of the browser, so that no worker, prefetch, redirect or DevTools command can bypass it.
 */
export async function openGate(reachable: readonly Domain[], upstreams: Upstreams): Promise<Gate> {
  const check = (place: Place) => {
    if (!covers(reachable, place)) throw new Error('this host is not one of the site’s domains')
  }
  const server = createServer((request, response) => {
    plain(upstreams, check, request, response).catch(() => response.destroy())
  })
  server.on('connect', (request, socket: Socket, head) => {
    socket.on('error', () => {})
    tunnelled(upstreams, check, request, socket, head).catch(() => socket.destroy())
  })
  const { promise, resolve, reject } = Promise.withResolvers<void>()
  server.once('error', reject).listen(0, '127.0.0.1', resolve)
  await promise
  const sockets = new Set<Socket>()
  server.on('connection', (socket) => {
    sockets.add(socket)
    socket.once('close', () => sockets.delete(socket))
  })
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    close() {
      server.close()
      for (const socket of sockets) socket.destroy()
    },
  }
}

type Check = (place: Place) => void

async function tunnelled(upstreams: Upstreams, check: Check, request: IncomingMessage, socket: Socket, head: Buffer) {
  const place = parsePlace(request.url ?? '', null)
  check(place)
  const upstream = await upstreams.tunnel({ ...place, isTrusted: false })
  socket.write('HTTP/1.1 200 Connection Established\r\n\r\n')
  upstream.write(head)
  both(socket, upstream)
}

/** Without TLS, anyone on the way could read a cookie. Plain HTTP is therefore sent only to a site on this machine. */
async function plain(upstreams: Upstreams, check: Check, request: IncomingMessage, response: ServerResponse) {
  const { target, ...place } = parseAbsolute(request.url ?? '')
  check(place)
  if (!isLoopback(place.host)) throw new Error('plain HTTP')
  const headers = pairs(request.rawHeaders)
  checkForm(request, headers)
  const gone = new AbortController()
  response.once('close', () => gone.abort())
  const sending = { method: request.method!, target, headers: [...requestHeaders(headers), ...framing(headers)] }
  const to = { protocol: 'http:' as const, ...place, isTrusted: false }
  const answer = await upstreams.stream(to, sending, request, gone.signal)
  response.writeHead(answer.statusCode ?? 502, answer.statusMessage, endToEnd(pairs(answer.rawHeaders)).flat())
  pipeline(answer, response, () => {})
}
