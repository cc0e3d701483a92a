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

/**
 * Warns once when an untrusted proxy forwards the addresses of its callers. All its callers then share one rate limit
 * and one address in the audit log. Only the address of the peer is compared with the list, because a caller on the
 * proxy's own host has the same address as the proxy. The listener is on the server, below Fastify, so that it sees
 * requests that are answered from memory.
 */
export function warnOfUntrustedProxies(server: Server, { config, log }: Context): void {
  const proxies = openTrustedProxies(config)
  const look = ({ headers, socket }: IncomingMessage) => {
    const isForwarded = headers['x-forwarded-for'] !== undefined || headers.forwarded !== undefined
    const { remoteAddress } = socket
    if (!isForwarded || remoteAddress === undefined || proxies.has(remoteAddress)) return
    server.off('request', look)
    log.warn(
      'a proxy that is not trusted forwards the addresses of its callers, so all of them share one rate limit: add the proxy to SKERRY_TRUSTED_PROXIES',
      { proxy: remoteAddress },
    )
  }
  server.on('request', look)
}
