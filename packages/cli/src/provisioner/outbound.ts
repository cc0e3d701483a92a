import { once } from 'node:events'
import { connect as openSocket, type Socket } from 'node:net'
import { type Outbound, OutboundError } from '@skerry/providers/outbound'

/**
 * Node's error codes in words for the admin who set the target up. Node's own messages contain addresses of the
 * internal network.
 */
const known: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'the connection was refused',
  ECONNRESET: 'the connection was closed',
  EHOSTUNREACH: 'there is no route to it',
  ENETUNREACH: 'there is no route to it',
  ENOTFOUND: 'there is no such host',
  EAI_AGAIN: 'the lookup of its name failed',
}

/**
 * Connects in the network of this process, which its operator has chosen. `allowed` limits it to some hosts and ports,
 * so that a malicious server cannot have others tried.
 */
export function openOutbound(allowed: readonly string[] | undefined): Pick<Outbound, 'connect' | 'send' | 'origin'> {
  return {
    connect: (to) => connect(to, allowed),
    send: async () => {
      throw new OutboundError('unsendable', 'a provisioner sends no HTTP requests to targets')
    },
    origin: (_, own) => own,
  }
}

type To = Parameters<Outbound['connect']>[0]

async function connect({ host, port, timeoutMs }: To, allowed: readonly string[] | undefined): Promise<Socket> {
  const target = `${host}:${port}`
  if (allowed !== undefined && !allowed.includes(target))
    throw new OutboundError(
      'refused_address',
      `${target}: this provisioner may not connect to it; to allow it, use --allow`,
    )
  const socket = openSocket({ host, port })
  try {
    await once(socket, 'connect', { signal: AbortSignal.timeout(timeoutMs) })
    return socket
  } catch (error) {
    socket.on('error', () => {}).destroy()
    throw refusal(target, error)
  }
}

function refusal(target: string, error: unknown): OutboundError {
  const { name, code = '' } = error as { name?: string; code?: string }
  if (name === 'AbortError') return new OutboundError('timeout', `${target}: it did not answer in time`)
  return new OutboundError('unreachable', `${target}: ${known[code] ?? 'the connection failed'}`)
}
