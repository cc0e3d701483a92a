import type { IncomingMessage, Server } from 'node:http'
import { networksOf } from '@skerry/providers/addresses'
import type { Config } from '../config.ts'
import type { Context } from './context.ts'

/** Names of address ranges that SKERRY_TRUSTED_PROXIES may contain. */
const namedRanges: Record<string, readonly string[]> = {
  loopback: ['127.0.0.0/8', '::1'],
  linklocal: ['169.254.0.0/16', 'fe80::/10'],
  uniquelocal: ['10.0.0.0/8', '172.16.0.0/12', '192.168.0.0/16', 'fc00::/7'],
}

export function openTrustedProxies({ trustedProxies }: Pick<Config, 'trustedProxies'>) {
  return networksOf(trustedProxies.flatMap((range) => namedRanges[range] ?? range))
}

const untrusted =
  'a proxy that is not trusted forwards the addresses of its callers, so all of them share one rate limit: add the proxy to SKERRY_TRUSTED_PROXIES'
const unread =
  'a proxy sends Forwarded, which this server does not read, so all its callers share one rate limit: let the proxy send X-Forwarded-For'

/**
 * Warns once when a proxy forwards the addresses of its callers and is not trusted, or names them in a header that is not
 * read. All its callers then share one rate limit and one address in the audit log. Only the address of the peer is
 * compared with the list, because a caller on the proxy's own host has the same address as the proxy. The listener is on
 * the server, below Fastify, so that it sees requests that are answered from memory.
 */
export function warnOfProxies(server: Server, { config, log }: Context): void {
  const proxies = openTrustedProxies(config)
  const look = ({ headers, socket }: IncomingMessage) => {
    const isRead = headers['x-forwarded-for'] !== undefined
    const { remoteAddress } = socket
    if (!(isRead || headers.forwarded !== undefined) || remoteAddress === undefined) return
    const isTrusted = proxies.has(remoteAddress)
    if (isTrusted && isRead) return
    server.off('request', look)
    log.warn(isTrusted ? unread : untrusted, { proxy: remoteAddress })
  }
  server.on('request', look)
}
