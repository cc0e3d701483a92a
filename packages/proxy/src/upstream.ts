import { type ClientRequest, type IncomingMessage, Agent as PlainAgent, request as plainRequest } from 'node:http'
import { Agent as TlsAgent, request as tlsRequest } from 'node:https'
import { connect, isIP, type Socket } from 'node:net'
import { pipeline } from 'node:stream'
import type { Egress } from './egress.ts'
import type { Headers } from './headers.ts'
import { Refusal } from './refusal.ts'

/** The destination of a request. */
export interface Target {
  protocol: 'http:' | 'https:'
  /** Without brackets. */
  host: string
  port: number
  /** Whether the settings name it, so that its address needs no check. */
  isTrusted: boolean
}

export interface Sending {
  method: string
  target: string
  headers: Headers
  body: Uint8Array | null
}

export type Upgraded = { response: IncomingMessage; socket: Socket; head: Buffer }

export interface Upstreams {
  send(to: Target, sending: Sending, signal: AbortSignal): Promise<IncomingMessage>
  /** Like `send`, with a body that is streamed. The headers say how long it is. */
  stream(
    to: Target,
    sending: Omit<Sending, 'body'>,
    body: AsyncIterable<Uint8Array>,
    signal: AbortSignal,
  ): Promise<IncomingMessage>
  /** Like `send`, but returns the connection if the upstream switches protocols. */
  upgrade(to: Target, sending: Sending, signal: AbortSignal): Promise<IncomingMessage | Upgraded>
  /** Opens a connection whose bytes the proxy does not read. */
  tunnel(to: Omit<Target, 'protocol'>): Promise<Socket>
  close(): void
}

/** Unused connections are closed after this time. An upstream can ask for a shorter one. */
const idleMs = 60_000
const connectMs = 30_000
/** The limit for the head of an answer. Content security policies and cookies exceed Node's default of 16 KiB. */
const headMaxBytes = 64 * 1024

/** @param ca certificates that are trusted instead of the system's, for your own upstreams. */
export function openUpstreams(egress: Egress, ca?: string | undefined): Upstreams {
  const settings = { keepAlive: true, timeout: idleMs, maxFreeSockets: 256 }
  const tls = ca === undefined ? settings : { ...settings, ca }
  // A connection that was opened without an address check must not serve a request that needs the check.
  const agents = {
    trusted: { 'http:': new PlainAgent(settings), 'https:': new TlsAgent(tls) },
    checked: { 'http:': new PlainAgent(settings), 'https:': new TlsAgent(tls) },
  }
  const start = (to: Target, { method, target, headers }: Sending, signal: AbortSignal, more: object = {}) => {
    const { protocol, host, port, isTrusted } = to
    if (!isTrusted) egress.check(host)
    const send = protocol === 'https:' ? tlsRequest : plainRequest
    const sent = send({
      host,
      port,
      method,
      path: target,
      headers: [['Host', authorityOf(to)], ...headers].flat(),
      maxHeaderSize: headMaxBytes,
      agent: agents[isTrusted ? 'trusted' : 'checked'][protocol],
      ...(isTrusted ? {} : { lookup: egress.lookup }),
      ...(isIP(host) === 0 ? { servername: host } : {}),
      ...more,
    })
    // The signal is not passed to Node, because that would cost as much as the rest of a small request.
    const end = () => sent.destroy()
    signal.addEventListener('abort', end, { once: true })
    sent.once('close', () => signal.removeEventListener('abort', end))
    return sent
  }
  const send = async (to: Target, sending: Sending, signal: AbortSignal): Promise<IncomingMessage> => {
    for (let attempt = 1; ; attempt++) {
      const sent = start(to, sending, signal)
      try {
        return await answerOf(sent, sending.body)
      } catch (error) {
        // The upstream has just closed a reused connection. A request that changes nothing is sent again on a new one.
        const isStale = sent.reusedSocket && (error as NodeJS.ErrnoException).code === 'ECONNRESET'
        if (!isStale || signal.aborted || attempt > 2 || !repeatable.has(sending.method)) throw error
      }
    }
  }
  const upgrade = async (to: Target, sending: Sending, signal: AbortSignal): Promise<IncomingMessage | Upgraded> => {
    const headers: Headers = [...sending.headers, ['Connection', 'Upgrade'], ['Upgrade', 'websocket']]
    const sent = start(to, { ...sending, headers }, signal, { agent: false, ...(ca === undefined ? {} : { ca }) })
    const { promise, resolve } = Promise.withResolvers<Upgraded>()
    sent.on('upgrade', (response, socket, head) => resolve({ response, socket: socket as Socket, head }))
    return Promise.race([promise, answerOf(sent, null)])
  }
  const stream: Upstreams['stream'] = async (to, sending, body, signal) => {
    const sent = start(to, { ...sending, body: null }, signal)
    const { promise, resolve, reject } = Promise.withResolvers<IncomingMessage>()
    sent.on('response', resolve).on('error', reject)
    // A request that ends before it has a connection emits no error itself.
    pipeline(body, sent, (error) => {
      if (error) reject(error)
    })
    return promise
  }
  return {
    send,
    stream,
    upgrade,
    tunnel: (to) => tunnel(to, egress),
    close() {
      for (const pair of Object.values(agents)) for (const agent of Object.values(pair)) agent.destroy()
    },
  }
}

const repeatable = new Set(['GET', 'HEAD', 'OPTIONS'])

function answerOf(sent: ClientRequest, body: Uint8Array | null): Promise<IncomingMessage> {
  const { promise, resolve, reject } = Promise.withResolvers<IncomingMessage>()
  sent.on('response', resolve).on('error', reject)
  sent.end(body ?? undefined)
  return promise
}

async function tunnel({ host, port, isTrusted }: Omit<Target, 'protocol'>, egress: Egress): Promise<Socket> {
  if (!isTrusted) egress.check(host)
  const { promise, resolve, reject } = Promise.withResolvers<void>()
  const socket = connect({ host, port, ...(isTrusted ? {} : { lookup: egress.lookup }) }, resolve)
  socket.once('error', reject).setTimeout(connectMs, () => socket.destroy(new Error('no answer')))
  await promise
  return socket.off('error', reject).setTimeout(0)
}

export const defaultPorts = { 'http:': 80, 'https:': 443 } as const

/** The value of the Host header. */
export function authorityOf({ protocol, host, port }: Target): string {
  const name = host.includes(':') ? `[${host}]` : host
  return port === defaultPorts[protocol] ? name : `${name}:${port}`
}

/** Converts an error of the upstream to a refusal for the client. It never contains an address of the inner network. */
export function upstreamFailure(error: unknown): Refusal {
  if (error instanceof Refusal) return error
  const { code = '' } = (error ?? {}) as NodeJS.ErrnoException
  if (code === 'HPE_HEADER_OVERFLOW')
    return new Refusal(502, 'upstream', 'the headers of the answer are longer than 64 KiB')
  const isTls = /CERT|SSL|TLS|ALTNAME/.test(code)
  return new Refusal(502, 'upstream', `the host cannot be reached${isTls ? ': its certificate is not trusted' : ''}`)
}
