import type { ServerResponse } from 'node:http'

export const json = 'application/json; charset=utf-8'

/**
 * Up to here Node writes a string from its stack, in one call together with the head. A longer string it copies twice for
 * every answer: 12 µs of processor against 12 at 4 kB, 17 against 14 at 64, 260 against 41 at 417. A buffer it never copies.
 */
const stringBytesMax = 16 * 1024

/** An answer that needs no more making: names and values of headers in turn, and a body, empty where there is none. */
export class PrebuiltResponse {
  readonly status: number
  readonly headers: readonly string[]
  /** A string has one character for each byte. */
  readonly body: string | Buffer

  constructor(status: number, headers: readonly string[], body: Buffer) {
    this.status = status
    this.headers = headers
    this.body = body.length > stringBytesMax ? body : body.toString('latin1')
  }
}

/** Past all that a framework does for an answer that still has to become bytes. */
export function sendPrebuilt(
  response: ServerResponse,
  requestId: string,
  { status, headers, body }: PrebuiltResponse,
  more: readonly string[] = [],
): void {
  response.writeHead(status, ['x-request-id', requestId, ...headers, ...more]).end(body, 'latin1')
}
