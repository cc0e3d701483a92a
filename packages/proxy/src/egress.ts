import { type LookupAddress, lookup as systemLookup } from 'node:dns'
import { isIP, type LookupFunction } from 'node:net'
import { networksOf, specialKind } from '@skerry/providers/addresses'
import type { Config } from './config/config.ts'
import { Refusal } from './refusal.ts'

/** Returns all addresses of a name. */
export type Resolve = (host: string, done: (error: Error | null, addresses: LookupAddress[]) => void) => void

export const systemResolve: Resolve = (host, done) => systemLookup(host, { all: true }, done)

export interface Egress {
  /** Checks a host that is written as an address, because `lookup` is not called for it. */
  check(host: string): void
  /** Resolves a name once. The connection uses an address that passed the check, and the name is not resolved again. */
  lookup: LookupFunction
}

/**
 * Limits the destinations that an agent chooses itself. A name that leads to this machine, to its network or to the
 * metadata service of a cloud is refused.
 */
export function openEgress({ blockPrivateIps, allowCidr }: Config['egress'], resolve: Resolve): Egress {
  const allowed = networksOf(allowCidr)
  const kindOf = (address: string) => (blockPrivateIps && !allowed.has(address) ? specialKind(address) : undefined)
  return {
    check(host) {
      const kind = isIP(host) === 0 ? undefined : kindOf(host)
      if (kind !== undefined) throw refusal(host, kind)
    },
    lookup(host, options, done) {
      resolve(host, (error, addresses) => {
        if (error) return done(error, [])
        const passed = addresses.filter(({ address }) => kindOf(address) === undefined)
        const [first] = passed
        if (first === undefined) return done(refusal(host, kindOf(addresses[0]?.address ?? '') ?? 'unknown'), [])
        if (options.all) done(null, passed)
        else done(null, first.address, first.family)
      })
    },
  }
}

const refusal = (host: string, kind: string) =>
  new Refusal(
    403,
    'egress',
    `${host}: its address is ${kind}, which is blocked; to allow the network, add it to egress.allow_cidr`,
  )
