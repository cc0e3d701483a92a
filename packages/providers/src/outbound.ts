import type { Socket } from 'node:net'

/**
 * An adapter reaches the network and the clock only through this object. The server passes one that refuses addresses
 * which its operator has not allowed. A worker inside a customer's network passes its own.
 */
export interface Outbound {
  /**
   * Sends one HTTP request. Returns an answer of any status, also a redirect. Throws `OutboundError` if there is none.
   */
  send(request: OutboundRequest): Promise<OutboundAnswer>
  /** Opens a TCP connection, for drivers with a protocol of their own. Throws `OutboundError`. */
  connect(to: { host: string; port: number; timeoutMs: number }): Promise<Socket>
  now(): Date
  /** Time limit for one answer of a target, in milliseconds. Default 10,000. */
  readonly answerMs?: number
  /**
   * Time limit after which a database ends a statement by itself, in milliseconds. Default four fifths of `answerMs`.
   */
  readonly statementMs?: number
  /**
   * Returns the origin for the calls of a provider, without a path: `own`, unless the operator redirects the calls.
   * Call it before signing a request, because signatures cover the host.
   * @param provider the provider's tag
   * @param own the usual origin, such as `https://api.example.com`
   */
  origin(provider: string, own: string): string
}

export interface OutboundRequest {
  method: 'GET' | 'HEAD' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'
  /** An https URL, or http if the operator allows it for the address. It contains no credentials. */
  url: string
  /** Callers cannot set the headers for host, length and encodings. The connection sets them. */
  headers?: Readonly<Record<string, string>>
  body?: string | Uint8Array
  /** Time limit for the whole request in milliseconds, default 30,000. */
  timeoutMs?: number
  /** The longest body that is read, default 1 MiB. A compressed answer is an error. */
  bytesMax?: number
  signal?: AbortSignal
}

export interface OutboundAnswer {
  status: number
  /** Names are in lower case. Several headers of one name are joined by a comma. */
  headers: Readonly<Record<string, string>>
  body: Uint8Array
}

/**
 * Why a request got no answer. The message names host and port at most, and never a part of the request. `unsendable`
 * is a fault of the request (no URL, a header that HTTP cannot carry). `unreadable` is a fault of the answer (not HTTP,
 * compressed).
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
