import { once } from 'node:events'
import type { Socket } from 'node:net'
import { connect } from 'node:tls'
import { isLoopback } from '@skerry/contract/loopback'
import { addressFamily } from '../address.ts'
import { OutboundError } from '../outbound.ts'

interface Connection {
  host: string
  tls?: 'disable' | 'require' | 'verify-full'
  caCertificate?: string
}

export interface TlsSettings {
  /** The name or address that the certificate must carry. */
  host: string
  /** The name for SNI. Empty for an address, because SNI cannot carry one. */
  servername: string
  rejectUnauthorized: boolean
  ca?: string
}

/**
 * How to protect a connection, or false for no TLS. The default is `verify-full`, and `disable` if the server is this
 * machine.
 */
export function tlsSettings(connection: Connection): TlsSettings | false {
  const { host, caCertificate } = connection
  const tls = connection.tls ?? (isLoopback(host) ? 'disable' : 'verify-full')
  if (tls === 'disable') return false
  return {
    host,
    servername: addressFamily(host) ? '' : host,
    rejectUnauthorized: tls === 'verify-full',
    ...(caCertificate === undefined ? {} : { ca: caCertificate }),
  }
}

/** Wraps the socket in TLS if the settings require it, for drivers that use a stream as it is. */
export async function secured(socket: Socket, settings: TlsSettings | false, timeoutMs: number): Promise<Socket> {
  if (settings === false) return socket
  const stream = connect({ ...settings, socket })
  const timer = setTimeout(
    () => stream.destroy(new OutboundError('timeout', 'the TLS handshake took too long')),
    timeoutMs,
  )
  try {
    await once(stream, 'secureConnect')
    return stream
  } catch (error) {
    socket.destroy()
    if (error instanceof OutboundError) throw error
    throw new OutboundError('tls', `${settings.host}: ${(error as Error).message}`)
  } finally {
    clearTimeout(timer)
  }
}
