import type { IncomingMessage } from 'node:http'
import { badRequest } from './refusal.ts'

/** In the order and spelling in which they came, each value by itself. */
export type Headers = [name: string, value: string][]

/** What is about one connection and not about the message (RFC 9110 section 7.6.1). */
const hopByHop = new Set([
  'connection',
  'keep-alive',
  'proxy-authenticate',
  'proxy-authorization',
  'proxy-connection',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
  'http2-settings',
  'expect',
])

/** In which a run presents its ticket or task. Never passed on. */
const ticketHeaders = ['x-skerry-ticket', 'x-seekrit-ticket'] as const

export function pairs(raw: readonly string[]): Headers {
  const all: Headers = []
  for (let at = 0; at + 1 < raw.length; at += 2) all.push([raw[at]!, raw[at + 1]!])
  return all
}

/** Without what belongs to the connection, and without the length, which is written anew. */
export function endToEnd(headers: Headers, more: readonly string[] = []): Headers {
  const named = valuesOf(headers, 'connection').flatMap((value) =>
    value
      .toLowerCase()
      .split(',')
      .map((one) => one.trim()),
  )
  const dropped = new Set([...named, ...more])
  return headers.filter(([name]) => {
    const lower = name.toLowerCase()
    return !hopByHop.has(lower) && !dropped.has(lower)
  })
}

export const requestHeaders = (headers: Headers): Headers =>
  endToEnd(headers, ['host', 'content-length', ...ticketHeaders])

/** Some servers act on the method or path of these headers, and the rule has permitted another one. */
const overrides = new Set([
  'x-http-method-override',
  'x-http-method',
  'x-method-override',
  'x-original-url',
  'x-original-uri',
  'x-rewrite-url',
  'x-forwarded-uri',
  'x-forwarded-path',
])

/** Without the headers that change method or path. Headers that the settings write themselves are kept. */
export const withoutOverrides = (headers: Headers, own: Readonly<Record<string, string>>): Headers =>
  headers.filter(([name]) => !overrides.has(name.toLowerCase()) || Object.hasOwn(own, name.toLowerCase()))

/** How long the body is, in the words of the request: for one that is passed on while it comes. */
export const framing = (headers: Headers): Headers => [
  ...valuesOf(headers, 'content-length').map((length): Headers[number] => ['Content-Length', length]),
  ...valuesOf(headers, 'transfer-encoding').map((): Headers[number] => ['Transfer-Encoding', 'chunked']),
]

/** Whether a name as it came is one in lower case. Most are not even as long, and need not be spelled anew. */
export const isNamed = (name: string, wanted: string): boolean =>
  name.length === wanted.length && name.toLowerCase() === wanted

export const valuesOf = (headers: Headers, wanted: string): string[] =>
  headers.filter(([name]) => isNamed(name, wanted)).map(([, value]) => value)

/** The ticket that a request presents. Two different ones would be a choice that is not ours. */
export function ticketOf(headers: Headers): string | undefined {
  const all = new Set(ticketHeaders.flatMap((name) => valuesOf(headers, name)))
  if (all.size > 1) throw badRequest('the request presents two tickets')
  return [...all][0]
}

/**
 * What Node's parser lets through and two readers could take for two different requests. It refuses by itself: a length
 * beside a transfer coding, two lengths, folded lines, and what is no character of a header.
 */
export function checkForm(request: IncomingMessage, headers: Headers): void {
  if (valuesOf(headers, 'host').length > 1) throw badRequest('the request has two Host headers')
  const codings = valuesOf(headers, 'transfer-encoding')
  if (codings.length > 0 && (codings.length > 1 || codings[0]!.trim().toLowerCase() !== 'chunked'))
    throw badRequest('the only transfer coding that is taken is chunked')
  if (codings.length > 0 && request.httpVersion === '1.0') throw badRequest('HTTP/1.0 has no transfer codings')
}

const targetForm = /^\/[\x21\x22\x24-\x7e]*$/

/** A path with its query, as it is sent on. */
export function checkTarget(target: string): string {
  if (!targetForm.test(target)) throw badRequest('the target is no path of printable ASCII')
  return target
}
