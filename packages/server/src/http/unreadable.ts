import type { Socket } from 'node:net'
import { fail, type Refusal } from './errors.ts'

// Requests that no route ever sees, answered in the one error shape all the same. Fastify's own answers to them repeat
// the path, and a path may hold what was meant for a body.

/** A path whose escapes are no UTF-8: all that the router itself refuses. */
export const unreadablePath = (): Refusal => fail('invalid_request', 'path: is not percent-encoded UTF-8')

/** What is not HTTP, or has a header longer than Node reads: there is no request to answer, only a connection. */
export function answerUnreadable(error: { code?: string }, socket: Socket): void {
  if (error.code === 'ECONNRESET' || socket.destroyed) return
  const body = JSON.stringify({ error: { code: 'invalid_request', message: 'the request could not be read' } })
  const head = [
    'HTTP/1.1 400 Bad Request',
    'content-type: application/json; charset=utf-8',
    `content-length: ${body.length}`,
    'connection: close',
  ]
  if (socket.writable) socket.end(`${head.join('\r\n')}\r\n\r\n${body}`)
  else socket.destroy()
}
