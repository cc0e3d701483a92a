import { type Place, parsePlace } from '@skerry/proxy/authorities'
import {
  ConfigError,
  flag,
  given,
  list,
  needed,
  object,
  oneOf,
  type Read,
  text,
  whole,
} from '@skerry/proxy/config/read'
import type { BrowserSettings, SiteProfile } from './define.ts'
import { type DomainSet, domainSets } from './domain-sets.ts'
import { atLeastOne, hostOf, is, listed, origin, portOf, shown, url } from './values.ts'

const httpsPort = 443

/** A host with its subdomains, at one port. */
export type Domain = Place

const domain: Read<Domain> = (value, place) => {
  const written = text(value, place)
  try {
    return parsePlace(written, httpsPort)
  } catch {
    throw new ConfigError(place, 'must be a host: write shop.example, which also covers its subdomains')
  }
}

/** Whether a browser with these domains may reach the host. */
export const covers = (domains: readonly Domain[], { host, port }: Place): boolean =>
  domains.some((one) => one.port === port && (host === one.host || host.endsWith(`.${one.host}`)))

export const isWithin = (domains: readonly Domain[], address: URL): boolean =>
  covers(domains, { host: hostOf(address), port: portOf(address) })

const selector = given(text, undefined)
const fields = object({ username: selector, password: selector, totp: selector })
const profile = object({
  ...shown,
  method: is('browser'),
  startUrl: needed(url),
  loginUrl: needed(url),
  loginOrigins: listed(origin),
  domains: needed(atLeastOne(list(domain))),
  domainSets: listed(oneOf(...(Object.keys(domainSets) as DomainSet[]))),
  signedOutUrlPrefixes: needed(atLeastOne(list(url))),
  slots: given(atLeastOne(list(oneOf('login', 'session'))), ['login', 'session'] as ('login' | 'session')[]),
  fields: given(fields, fields({}, 'fields')),
} satisfies Record<keyof SiteProfile, unknown>)

/** Reads a profile of a site. Every address in it must be one that the site's browser can reach. */
export const site: Read<Site> = (value, place) => {
  const { domains, domainSets: sets, ...found } = profile(value, place)
  const named: [string, URL][] = [
    ['startUrl', found.startUrl],
    ['loginUrl', found.loginUrl],
    ...found.loginOrigins.map((one, at): [string, URL] => [`loginOrigins[${at}]`, new URL(one)]),
    ...found.signedOutUrlPrefixes.map((one, at): [string, URL] => [`signedOutUrlPrefixes[${at}]`, one]),
  ]
  const outside = named.find(([, address]) => !isWithin(domains, address))
  if (outside) throw new ConfigError(`${place}.${outside[0]}`, 'must be on one of the domains')
  if (new Set(found.slots).size < found.slots.length)
    throw new ConfigError(`${place}.slots`, 'must not list an entry twice')
  const shared = sets.flatMap((name) => domainSets[name].map((host) => ({ host, port: httpsPort })))
  const loginOrigins = [found.loginUrl.origin, ...found.loginOrigins]
  return { ...found, loginOrigins, reachable: [...domains, ...shared] }
}

export type Site = Omit<ReturnType<typeof profile>, 'domains' | 'domainSets'> & {
  /** All hosts that the site's browser may reach. */
  reachable: Domain[]
}

export const browserSettings = object({
  executable: given(text, undefined),
  sandbox: given(flag, true),
  max: given(whole(1, 100), 4),
} satisfies Record<keyof BrowserSettings, unknown>)
