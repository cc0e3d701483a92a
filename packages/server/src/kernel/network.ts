import { isIP, isIPv6 } from 'node:net'

/**
 * Returns the key by which limits count an address: an IPv4 address itself, or the /64 network of an IPv6 address,
 * because one owner has the whole network. Text that is not an address is returned unchanged.
 */
export function networkOf(caller: string): string {
  const address = withoutPort(caller)
  if (!isIPv6(address)) return address
  // A URL normalizes the address: no dots, no leading zeros, the longest run of zeros as `::`. URLs do not support
  // zones.
  const spelt = new URL(`http://[${address.replace(/%.*/, '')}]`).hostname.slice(1, -1)
  // An IPv4 address in the form that a dual-stack socket shows.
  if (spelt.startsWith('::ffff:')) return spelt
  const [before = [], after = []] = spelt.split('::').map((part) => part.split(':').filter((hextet) => hextet !== ''))
  const zeros = Array.from({ length: 8 - before.length - after.length }, () => '0')
  return `${[...before, ...zeros, ...after].slice(0, 4).join(':')}::/64`
}

/**
 * Removes the port, which some proxies write into X-Forwarded-For. Otherwise each connection would count as another
 * caller.
 */
function withoutPort(caller: string): string {
  const [, ipv4, bracketed] = /^(?:([\d.]+):\d+|\[(.+)\](?::\d+)?)$/.exec(caller) ?? []
  const address = ipv4 ?? bracketed ?? ''
  return isIP(address) === 0 ? caller : address
}
