import { lookup } from 'node:dns/promises'
import { isIP, isIPv6, type LookupFunction } from 'node:net'
import { type Networks, specialKind } from '@skerry/providers/addresses'
import { OutboundError } from '@skerry/providers/outbound'

export interface Address {
  address: string
  family: number
}

/** All addresses of a name, the preferred one first. */
export type Resolve = (host: string) => Promise<Address[]>

/** Resolves names like every program on this machine: /etc/hosts, then DNS. */
export const systemResolve: Resolve = (host) => lookup(host, { all: true })

/** `listed`: only the networks of SKERRY_ALLOW_PRIVATE_TARGETS. `public`: those and the public Internet. */
export type Reach = 'public' | 'listed'

/**
 * Normalizes the host like the system would: 0x7f.1, 2130706433 and 0177.0.0.1 are all 127.0.0.1, and a trailing dot
 * has no meaning. All other hosts are looked up, and the resulting addresses are checked.
 */
export function canonicalHost(host: string): string {
  if (isIPv6(host)) return host
  const address = /[/?#@:\\[\]]/.test(host) ? undefined : URL.parse(`http://${host}`)
  const canonical = address?.hostname.replace(/\.$/, '')
  if (!canonical) throw new OutboundError('unsendable', 'the host is not a host name')
  return canonical
}

/**
 * Decides which addresses may be reached. The name is resolved only once, here. The result is a lookup function for the
 * connection that knows only the allowed addresses. A name server cannot return another address later, because it is
 * not queried again.
 */
export async function guardedLookup(
  {
    host,
    port,
    reach,
    listed,
    resolve,
  }: { host: string; port: number; reach: Reach; listed: Networks; resolve: Resolve },
  signal: AbortSignal,
): Promise<LookupFunction> {
  const addresses = await addressesOf(host, port, resolve, signal)
  const kinds = addresses.map(({ address }) => specialKind(address))
  const passed = addresses.filter(
    ({ address }, index) => listed.has(address) || (reach === 'public' && kinds[index] === undefined),
  )
  if (passed.length === 0) throw refusal(host, port, kinds[0])
  return (_, options, callback) => {
    const [first] = passed as [Address]
    if (options.all) callback(null, passed)
    else callback(null, first.address, first.family)
  }
}

/** The message omits the address of a name, so that users cannot learn the addresses of internal names. */
const refusal = (host: string, port: number, kind: string | undefined) =>
  new OutboundError(
    'refused_address',
    kind === undefined
      ? `${host}:${port}: plain HTTP is for networks that SKERRY_ALLOW_PRIVATE_TARGETS lists; use https`
      : `${host}:${port}: the address is ${kind}; the operator can allow its network with ${settingFor(host, kind)}`,
  )

/** The setting that allows a target. The value is missing for a range that no operator should allow, such as metadata. */
function settingFor(host: string, kind: string): string {
  const name = 'SKERRY_ALLOW_PRIVATE_TARGETS'
  if (kind !== 'loopback' && kind !== 'private') return name
  if (isIP(host) !== 0) return `${name}=${host}/${isIPv6(host) ? 128 : 32}`
  return kind === 'loopback' ? `${name}=127.0.0.1/32` : `${name}, for example 10.20.0.0/16`
}

async function addressesOf(host: string, port: number, resolve: Resolve, signal: AbortSignal): Promise<Address[]> {
  const family = isIP(host)
  if (family !== 0) return [{ address: host, family }]
  const found = await unlessAborted(resolve(host), signal).catch((error) => {
    if (signal.aborted) throw error
    return []
  })
  if (found.length === 0) throw new OutboundError('unreachable', `${host}:${port}: the name has no address`)
  return found
}

/** Stops waiting when the signal aborts. The lookup itself cannot be cancelled. */
function unlessAborted<T>(promise: Promise<T>, signal: AbortSignal): Promise<T> {
  const { promise: aborted, reject } = Promise.withResolvers<never>()
  const onAbort = () => reject(signal.reason)
  if (signal.aborted) onAbort()
  signal.addEventListener('abort', onAbort, { once: true })
  return Promise.race([promise, aborted]).finally(() => signal.removeEventListener('abort', onAbort))
}
