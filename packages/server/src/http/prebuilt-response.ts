import type { ServerResponse } from 'node:http'

export const json = 'application/json; charset=utf-8'

/**
 * Up to this size Node writes a string from its stack, in one call together with the head. It copies a longer string
 * twice for each answer, and never copies a buffer. Processor time for a string against a buffer: 12 µs against 12 at 4
 * kB, 17 against 14 at 64 kB, 260 against 41 at 417 kB.
 */
const stringBytesMax = 16 * 1024

/** A complete answer: header names and values in turn, and a body, which may be empty. */
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

/** Sends a prebuilt answer without the framework, which would serialize a body first. */
export function sendPrebuilt(
  response: ServerResponse,
  requestId: string,
  { status, headers, body }: PrebuiltResponse,
  more: readonly string[] = [],
): void {
  response.writeHead(status, ['x-request-id', requestId, ...headers, ...more]).end(body, 'latin1')
}
