import type { Socket } from 'node:net'

/**
 * The only way by which an adapter reaches anything: requests, sockets and the clock of the process that runs it. The server
 * gives one that refuses addresses which its operator has not allowed; a worker inside a customer's network gives its own.
 */
export interface Outside {
  /** Sends one HTTP request. An answer of any status is an answer; what prevents one throws `OutsideError`. */
  send(request: OutsideRequest): Promise<OutsideAnswer>
  /** Opens a TCP connection, for drivers that speak a protocol of their own. Throws `OutsideError`. */
  connect(to: { host: string; port: number; timeoutMs: number }): Promise<Socket>
  now(): Date
}

export interface OutsideRequest {
  method: 'GET' | 'HEAD' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'
  /** https, or http where the operator allows it for the address. No credentials in it. */
  url: string
  headers?: Readonly<Record<string, string>>
  body?: string | Uint8Array
  /** Time for the whole of it, default 30,000. */
  timeoutMs?: number
  /** The longest body that is read, default 1 MiB. */
  bytesMax?: number
  signal?: AbortSignal
}

export interface OutsideAnswer {
  status: number
  /** Names in lower case; several headers of one name are joined by a comma. */
  headers: Readonly<Record<string, string>>
  body: Uint8Array
}

/** Why nothing was answered. The message names host and port at most, and never a part of the request. */
export class OutsideError extends Error {
  readonly reason: 'refused_address' | 'unreachable' | 'timeout' | 'tls' | 'too_large' | 'aborted'

  constructor(reason: OutsideError['reason'], message: string) {
    super(message)
    this.name = 'OutsideError'
    this.reason = reason
  }
}
