import type { ServerResponse } from 'node:http'

export const json = 'application/json; charset=utf-8'

/**
 * An answer that needs no more making: names and values of headers in turn, and a body with one character for each byte, empty
 * where there is none. Node sends a string together with its head, and a buffer after it.
 */
export class Ready {
  readonly status: number
  readonly headers: readonly string[]
  readonly body: string

  constructor(status: number, headers: readonly string[], body: string) {
    this.status = status
    this.headers = headers
    this.body = body
  }
}

/** Past all that a framework does for an answer that still has to become bytes. */
export function sendReady(response: ServerResponse, requestId: string, { status, headers, body }: Ready): void {
  response.writeHead(status, ['x-request-id', requestId, ...headers]).end(body, 'latin1')
}
