import type { Socket } from 'node:net'

/**
 * The only way by which an adapter reaches anything: requests, sockets and the clock of the process that runs it. The server
 * gives one that refuses addresses which its operator has not allowed; a worker inside a customer's network gives its own.
 */
export interface Outbound {
  /** Sends one HTTP request. An answer of any status is an answer, redirects too; what prevents one throws `OutboundError`. */
  send(request: OutboundRequest): Promise<OutboundAnswer>
  /** Opens a TCP connection, for drivers that speak a protocol of their own. Throws `OutboundError`. */
  connect(to: { host: string; port: number; timeoutMs: number }): Promise<Socket>
  now(): Date
  /** How long a target may take for one answer, in milliseconds, where it is not the usual ten seconds. */
  readonly answerMs?: number
  /** After how long a database ends a statement by itself, in milliseconds, where it is not four fifths of that. */
  readonly statementMs?: number
  /**
   * Where the calls of a provider go, without a path: `own`, unless the operator sends them elsewhere. To be asked before a
   * request is signed, since signatures cover the host.
   * @param provider its tag
   * @param own its usual origin, such as `https://api.example.com`
   */
  origin(provider: string, own: string): string
}

export interface OutboundRequest {
  method: 'GET' | 'HEAD' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'
  /** https, or http where the operator allows it for the address. No credentials in it. */
  url: string
  /** Host, length and encodings are not the caller's: those of the connection are sent. */
  headers?: Readonly<Record<string, string>>
  body?: string | Uint8Array
  /** Time for the whole of it, default 30,000. */
  timeoutMs?: number
  /** The longest body that is read, default 1 MiB. Answers come unpacked or not at all. */
  bytesMax?: number
  signal?: AbortSignal
}

export interface OutboundAnswer {
  status: number
  /** Names in lower case; several headers of one name are joined by a comma. */
  headers: Readonly<Record<string, string>>
  body: Uint8Array
}

/**
 * Why nothing was answered. The message names host and port at most, and never a part of the request. `unsendable` is a
 * fault of the request (no URL, a header that HTTP cannot carry), `unreadable` one of the answer (not HTTP, packed).
 */
export class OutboundError extends Error {
  readonly reason:
    | 'refused_address'
    | 'unsendable'
    | 'unreachable'
    | 'timeout'
    | 'tls'
    | 'too_large'
    | 'unreadable'
    | 'aborted'

  constructor(reason: OutboundError['reason'], message: string) {
    super(message)
    this.name = 'OutboundError'
    this.reason = reason
  }
}
