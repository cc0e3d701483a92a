import { isIP, isIPv6 } from 'node:net'

/**
 * What limits count as one caller: an IPv4 address, or the /64 network of an IPv6 address, because the owner of one of its
 * addresses has all of them. Text that is no address is returned as it is.
 */
export function networkOf(caller: string): string {
  const address = withoutPort(caller)
  if (!isIPv6(address)) return address
  // URLs have one spelling for an address: no dots, no leading zeros, the longest run of zeros as `::`. They know no zones.
  const spelt = new URL(`http://[${address.replace(/%.*/, '')}]`).hostname.slice(1, -1)
  // An IPv4 address, as a socket for both kinds shows it.
  if (spelt.startsWith('::ffff:')) return spelt
  const [before = [], after = []] = spelt.split('::').map((part) => part.split(':').filter((hextet) => hextet !== ''))
  const zeros = Array.from({ length: 8 - before.length - after.length }, () => '0')
  return `${[...before, ...zeros, ...after].slice(0, 4).join(':')}::/64`
}

/** Some proxies write ports into X-Forwarded-For: each connection, which has one of its own, would be another caller. */
function withoutPort(caller: string): string {
  const [, ipv4, bracketed] = /^(?:([\d.]+):\d+|\[(.+)\](?::\d+)?)$/.exec(caller) ?? []
  const address = ipv4 ?? bracketed ?? ''
  return isIP(address) === 0 ? caller : address
}
