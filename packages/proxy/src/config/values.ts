import { isIP } from 'node:net'
import { injectableNamePattern } from '@skerry/contract/agents/policy-body'
import { ConfigError, matching, type Read, text } from './read.ts'

/** An address to listen on. */
export interface ListenAddress {
  host: string
  port: number
}

/** `127.0.0.1:8080`, `[::1]:8080`. Port 0 means any free port. */
export const listenAddress: Read<ListenAddress> = (value, place) => {
  const [, bracketed, plain, port] = /^(?:\[([^\]]+)\]|([^:[\]]+)):(\d{1,5})$/.exec(text(value, place)) ?? []
  const host = bracketed ?? plain ?? ''
  if (isIP(host) === 0 || Number(port) > 65_535)
    throw new ConfigError(place, 'must be an IP address with a port, such as 127.0.0.1:8080')
  return { host, port: Number(port) }
}

const unitSeconds = { s: 1, m: 60, h: 3600, d: 86_400 } as const

/** `30s`, `15m`, `24h`, `7d`, or seconds as a number -> seconds. */
export const duration =
  (least: number, most: number): Read<number> =>
  (value, place) => {
    const seconds = durationSeconds(value)
    if (seconds === undefined) throw new ConfigError(place, 'must be a duration: write 30s, 15m, 24h or 7d')
    if (seconds < least || seconds > most) throw new ConfigError(place, `must be from ${least} to ${most} seconds`)
    return seconds
  }

/** Undefined if the value is no duration. */
export function durationSeconds(value: unknown): number | undefined {
  const [, digits, unit = 's'] = /^(\d{1,9})([smhd])?$/.exec(String(value)) ?? []
  return digits === undefined ? undefined : Number(digits) * unitSeconds[unit as keyof typeof unitSeconds]
}

/** Scheme, host and port of an upstream. A path is refused, because no rule would check it. */
export const origin: Read<URL> = (value, place) => {
  const written = text(value, place)
  const url = URL.parse(written)
  if (!url || !/^https?:$/.test(url.protocol)) throw new ConfigError(place, 'must be an http:// or https:// address')
  if (url.username || url.password) throw new ConfigError(place, 'must not contain a user name or password')
  if (url.pathname !== '/' || url.search || url.hash)
    throw new ConfigError(place, 'must not contain a path, query or fragment: write only scheme, host and port')
  return url
}

export const network: Read<string> = (value, place) => {
  const written = text(value, place)
  const [address = '', bits, ...more] = written.split('/')
  const most = { 0: -1, 4: 32, 6: 128 }[isIP(address) as 0 | 4 | 6]
  const isRange = bits === undefined || (/^\d{1,3}$/.test(bits) && Number(bits) <= most)
  if (most < 0 || !isRange || more.length > 0) throw new ConfigError(place, 'must be an IP address or a CIDR range')
  return written
}

/** Ports from one to another, both included. */
export interface PortRange {
  from: number
  to: number
}

/** `8443`, or `"8000-8999"`. */
export const portRange: Read<PortRange> = (value, place) => {
  const [, first, last = first] = /^(\d{1,5})(?:-(\d{1,5}))?$/.exec(String(value)) ?? []
  const range = { from: Number(first ?? 0), to: Number(last ?? 0) }
  if (range.from < 1 || range.to > 65_535 || range.from > range.to)
    throw new ConfigError(place, 'must be a port or a range of ports: write 8443 or "8000-8999"')
  return range
}

export const secretName = matching(new RegExp(injectableNamePattern), 'must be the name of a secret')

/** An agent, by slug or id. */
export const agentName = matching(/^[A-Za-z0-9_-]{1,100}$/, 'must be the slug or id of an agent')
export const thumbprint = matching(
  /^[A-Za-z0-9_-]{43}$/,
  'must be the thumbprint of a key: `skerry agent policy publish` prints it',
)
