import type { IncomingMessage, Server } from 'node:http'
import type { Duplex } from 'node:stream'
import { fail, type Refusal } from '../kernel/errors.ts'
import { json } from './prebuilt-response.ts'

// Answers requests that no route sees, in the usual error format. Fastify's own answers repeat the path, and a path may
// contain a secret that was meant for a body.

/** The error for a path whose escapes are not UTF-8. The router itself refuses nothing else. */
export const unreadablePath = (): Refusal => fail('invalid_request', 'path: is not percent-encoded UTF-8')

const body = JSON.stringify({ error: { code: 'invalid_request', message: 'the request could not be read' } })
const headers = {
  'content-type': json,
  'content-length': String(body.length),
  'cache-control': 'no-store',
  connection: 'close',
}

/**
 * Answers input that is not HTTP, or has headers longer than Node reads. There is no request object, only a connection.
 */
export function answerUnreadable(error: { code?: string }, socket: Duplex): void {
  if (error.code === 'ECONNRESET' || socket.destroyed) return
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}`)
  if (socket.writable) socket.end(`${['HTTP/1.1 400 Bad Request', ...lines].join('\r\n')}\r\n\r\n${body}`)
  else socket.destroy()
}

/**
 * Answers two kinds of requests instead of Node, which answers an unknown expectation with 417 and a tunnel by hanging
 * up.
 */
export function answerUnusual(server: Server, seen: (request: IncomingMessage) => void): void {
  server.on('checkExpectation', (request, response) => {
    seen(request)
    response.writeHead(400, headers).end(body)
  })
  server.on('connect', (request, socket) => {
    seen(request)
    answerUnreadable({}, socket)
  })
}

/**
 * Finds a violation of RFC 9112 section 3.2, or returns null. A request of HTTP/1.1 must have a `Host` header. No
 * request may have two, because a proxy could use one and Skerry the other. Node's own check is off, because its
 * refusal has no text.
 */
export function findHostFault({ headers, httpVersion, rawHeaders }: IncomingMessage): string | null {
  if (headers.host === undefined) return httpVersion === '1.1' ? 'Host: is required' : null
  let count = 0
  for (let at = 0; at < rawHeaders.length; at += 2) {
    const name = rawHeaders[at] as string
    if (name.length === 4 && name.toLowerCase() === 'host') count++
  }
  return count > 1 ? 'Host: must be sent only once' : null
}
