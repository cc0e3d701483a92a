import { BlockList, isIPv4, isIPv6 } from 'node:net'

/**
 * Ranges that do not lead to a host on the public Internet, from IANA's special-purpose registries for IPv4 and IPv6.
 * Only 2000::/3 is assigned for IPv6 global unicast, so the rest of IPv6 is refused. That includes the forms that carry
 * an IPv4 address: mapped (::ffff:0:0/96), compatible (::/96) and NAT64 (64:ff9b::/96).
 */
const specialRanges: readonly (readonly [range: string, kind: string])[] = [
  ['0.0.0.0/8', 'unspecified'],
  ['10.0.0.0/8', 'private'],
  ['100.64.0.0/10', 'carrier-grade NAT'],
  ['127.0.0.0/8', 'loopback'],
  // Cloud providers serve the credentials of a machine at 169.254.169.254.
  ['169.254.0.0/16', 'link-local'],
  ['172.16.0.0/12', 'private'],
  ['192.0.0.0/24', 'reserved'],
  ['192.0.2.0/24', 'reserved'],
  ['192.88.99.0/24', '6to4'],
  ['192.168.0.0/16', 'private'],
  ['198.18.0.0/15', 'reserved'],
  ['198.51.100.0/24', 'reserved'],
  ['203.0.113.0/24', 'reserved'],
  ['224.0.0.0/4', 'multicast'],
  ['240.0.0.0/4', 'reserved'],
  // Looks public, but it is the host of every virtual machine on Azure.
  ['168.63.129.16/32', 'link-local'],
  ['::/128', 'unspecified'],
  ['::1/128', 'loopback'],
  ['::ffff:0:0/96', 'IPv4-mapped'],
  ['64:ff9b::/96', 'NAT64'],
  ['64:ff9b:1::/48', 'NAT64'],
  ['fc00::/7', 'private'],
  ['fe80::/10', 'link-local'],
  ['ff00::/8', 'multicast'],
  ['2001::/32', 'Teredo'],
  ['2001::/23', 'reserved'],
  ['2001:db8::/32', 'reserved'],
  ['2002::/16', '6to4'],
  ['3fff::/20', 'reserved'],
  ['::/3', 'reserved'],
  ['4000::/2', 'reserved'],
  ['8000::/1', 'reserved'],
]

/** A set of networks. */
export interface Networks {
  has(address: string): boolean
}

/** @param ranges addresses and CIDR ranges, which the settings have already validated */
export function networksOf(ranges: readonly string[]): Networks {
  const list = new BlockList()
  for (const range of ranges) {
    const [address = '', bits] = range.split('/')
    const family = isIPv4(address) ? 'ipv4' : 'ipv6'
    list.addSubnet(address, bits === undefined ? (family === 'ipv4' ? 32 : 128) : Number(bits), family)
  }
  // Node's BlockList also matches the IPv4-mapped form of its IPv4 networks.
  return { has: (address) => list.check(address, isIPv4(address) ? 'ipv4' : 'ipv6') }
}

const special = specialRanges.map(([range, kind]) => ({
  kind,
  family: range.includes(':') ? 6 : 4,
  networks: networksOf([range]),
}))

/** The kind of a special address, such as `loopback` or `private`. Undefined for an address on the public Internet. */
export function specialKind(address: string): string | undefined {
  if (isIPv4(address)) return special.find(({ family, networks }) => family === 4 && networks.has(address))?.kind
  // An address with a zone (fe80::1%eth0) is valid on this machine only.
  if (!isIPv6(address) || address.includes('%')) return 'link-local'
  return special.find(({ family, networks }) => family === 6 && networks.has(address))?.kind
}
