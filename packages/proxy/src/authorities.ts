import { isIP } from 'node:net'
import { badRequest } from './refusal.ts'

/** Host and port, as a request names them. */
export interface Place {
  host: string
  port: number
}

const hostForm = /^(?=.{1,253}$)[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?(?:\.[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?)*$/

/**
 * Reads `host:port` into one spelling: lower case, no dot at the end, no brackets. Refuses anything else that a reader
 * could take for a host.
 */
export function parsePlace(text: string, defaultPort: number | null): Place {
  const [, bracketed, plain, digits] = /^(?:\[([0-9A-Fa-f:.]+)\]|([^:[\]]+))(?::(\d{1,5}))?$/.exec(text) ?? []
  const host = (bracketed ?? plain ?? '').toLowerCase().replace(/\.$/, '')
  const port = digits === undefined ? defaultPort : Number(digits)
  const isHost = bracketed === undefined ? hostForm.test(host) : isIP(host) === 6
  if (!isHost || port === null || port < 1 || port > 65_535) throw badRequest('the request names no host and port')
  return { host, port }
}

/** Reads the target of a proxy request without CONNECT: `http://host/path`. */
export function parseAbsolute(url: string): Place & { target: string } {
  const [, authority, rest = ''] = /^http:\/\/([^/?#]+)([/?].*)?$/i.exec(url) ?? []
  if (authority === undefined) throw badRequest('send this proxy an absolute http:// address, or CONNECT for https://')
  return { ...parsePlace(authority, 80), target: rest.startsWith('/') ? rest : `/${rest}` }
}

/** A request names its destination twice. Both names must agree, because the next server may read the other one. */
export function checkHost(header: string | undefined, { host, port }: Place): void {
  if (header === undefined) return
  const named = parsePlace(header, port)
  if (named.host !== host || named.port !== port) throw badRequest('the Host header does not match the requested host')
}
