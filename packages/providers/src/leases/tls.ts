import { isIP } from 'node:net'

interface Connection {
  host: string
  tls?: 'disable' | 'require' | 'verify-full'
  caCertificate?: string
}

export interface TlsSettings {
  /** The name or address that the certificate must carry. */
  host: string
  /** SNI, which has no form for an address. */
  servername: string
  rejectUnauthorized: boolean
  ca?: string
}

/** How to protect a connection, or false for not at all: as the target says, and fully unless the server is this machine. */
export function tlsSettings(connection: Connection): TlsSettings | false {
  const { host, caCertificate } = connection
  const tls = connection.tls ?? (isLoopback(host) ? 'disable' : 'verify-full')
  if (tls === 'disable') return false
  return {
    host,
    servername: isIP(host) ? '' : host,
    rejectUnauthorized: tls === 'verify-full',
    ...(caCertificate === undefined ? {} : { ca: caCertificate }),
  }
}

const isLoopback = (host: string) => host === 'localhost' || host === '::1' || /^127(?:\.\d{1,3}){3}$/.test(host)
