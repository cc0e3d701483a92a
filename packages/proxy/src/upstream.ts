import { type ClientRequest, type IncomingMessage, Agent as PlainAgent, request as plainRequest } from 'node:http'
import { Agent as TlsAgent, request as tlsRequest } from 'node:https'
import { connect, isIP, type Socket } from 'node:net'
import { pipeline } from 'node:stream'
import type { Egress } from './egress.ts'
import type { Headers } from './headers.ts'
import { Refusal } from './refusal.ts'

/** Where a request goes. */
export interface Target {
  protocol: 'http:' | 'https:'
  /** Without brackets. */
  host: string
  port: number
  /** Named by the settings, so that its address needs no check. */
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
  /** As `send`, with a body that is passed on while it comes; the headers say how long it is. */
  stream(
    to: Target,
    sending: Omit<Sending, 'body'>,
    body: AsyncIterable<Uint8Array>,
    signal: AbortSignal,
  ): Promise<IncomingMessage>
  /** As `send`, with the connection where the upstream switches protocols. */
  upgrade(to: Target, sending: Sending, signal: AbortSignal): Promise<IncomingMessage | Upgraded>
  /** Bytes both ways, which nobody looks at. */
  tunnel(to: Omit<Target, 'protocol'>): Promise<Socket>
  close(): void
}

/** An upstream that keeps a connection longer than this has a shorter time of its own. */
const idleMs = 60_000
const connectMs = 30_000
/** Of the head of an answer: content security policies and cookies are longer than the 16 KiB that Node takes by itself. */
const headMaxBytes = 64 * 1024

/** @param ca certificates that are trusted in the place of the system's; for upstreams of one's own. */
export function openUpstreams(egress: Egress, ca?: string | undefined): Upstreams {
  const settings = { keepAlive: true, timeout: idleMs, maxFreeSockets: 256 }
  const tls = ca === undefined ? settings : { ...settings, ca }
  // A connection that was made without a check must not be taken for one that was.
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
    // Handing the signal to Node costs as much as the rest of a small request.
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
        // The upstream has closed a kept connection in this moment: what changes nothing is tried on a new one.
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
    // A request that ends before it has a connection tells nothing by itself.
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

/** As the Host header names it. */
export function authorityOf({ protocol, host, port }: Target): string {
  const name = host.includes(':') ? `[${host}]` : host
  return port === defaultPorts[protocol] ? name : `${name}:${port}`
}

/** What went wrong on the other side -> what the client is told. An address of the inner network is not part of it. */
export function upstreamFailure(error: unknown): Refusal {
  if (error instanceof Refusal) return error
  const { code = '' } = (error ?? {}) as NodeJS.ErrnoException
  if (code === 'HPE_HEADER_OVERFLOW')
    return new Refusal(502, 'upstream', 'the head of the answer is longer than 64 KiB')
  const isTls = /CERT|SSL|TLS|ALTNAME/.test(code)
  return new Refusal(
    502,
    'upstream',
    `the upstream cannot be reached${isTls ? ': its certificate is not trusted' : ''}`,
  )
}
