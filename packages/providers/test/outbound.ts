import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { type Outbound, type OutboundAnswer, OutboundError, type OutboundRequest } from '../src/outbound.ts'

/** The simplest `Outbound`. It counts open connections and sent bytes. */
export interface TestOutbound extends Outbound {
  /** Connections that are open now, and the most at once since `forget`. */
  open: number
  peak: number
  /** May be changed: the new limit also applies to what is already open. */
  answerMs: number
  statementMs?: number
  /** Bytes written by drivers since `forget`. */
  sent(): number
  forget(): void
  sockets: Set<Socket>
}

/**
 * `origins` are the addresses of fakes, by the provider’s tag. The default limit is long, so a test of a limit sets its
 * own.
 */
export function testOutbound(origins: Readonly<Record<string, string>> = {}, answerMs = 300_000): TestOutbound {
  const sockets = new Set<Socket>()
  let before = 0
  let ended = 0
  const written = () => [...sockets].reduce((sum, socket) => sum + socket.bytesWritten, ended)
  const outbound: TestOutbound = {
    open: 0,
    peak: 0,
    answerMs,
    sockets,
    sent: () => written() - before,
    forget() {
      before = written()
      outbound.peak = outbound.open
    },
    now: () => new Date(),
    origin: (provider, own) => origins[provider] ?? own,
    send,
    async connect({ host, port, timeoutMs }) {
      const socket = await opened(host, port, timeoutMs)
      sockets.add(socket)
      outbound.open++
      outbound.peak = Math.max(outbound.peak, outbound.open)
      socket.on('error', () => {})
      socket.once('close', () => {
        outbound.open--
        ended += socket.bytesWritten
        sockets.delete(socket)
      })
      return socket
    },
  }
  return outbound
}

async function opened(host: string, port: number, timeoutMs: number): Promise<Socket> {
  const socket = connect({ host, port })
  const timer = setTimeout(
    () => socket.destroy(new OutboundError('timeout', `${host}:${port}: no connection`)),
    timeoutMs,
  )
  try {
    await once(socket, 'connect')
    return socket
  } catch (error) {
    if (error instanceof OutboundError) throw error
    throw new OutboundError('unreachable', `${host}:${port}: ${(error as NodeJS.ErrnoException).code}`)
  } finally {
    clearTimeout(timer)
  }
}

async function send(request: OutboundRequest): Promise<OutboundAnswer> {
  const { method, url, headers, body, timeoutMs = 30_000 } = request
  const response = await fetch(url, {
    method,
    redirect: 'manual',
    signal: AbortSignal.timeout(timeoutMs),
    ...(headers === undefined ? {} : { headers }),
    ...(body === undefined ? {} : { body: body as BodyInit }),
  }).catch((error: unknown) => {
    const reason = (error as Error).name === 'TimeoutError' ? 'timeout' : 'unreachable'
    throw new OutboundError(reason, `${new URL(url).host}: no answer`)
  })
  return {
    status: response.status,
    headers: Object.fromEntries(response.headers),
    body: new Uint8Array(await response.arrayBuffer()),
  }
}
