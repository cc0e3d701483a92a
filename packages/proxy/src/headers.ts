import type { IncomingMessage } from 'node:http'
import { badRequest } from './refusal.ts'

/** Headers in the order and spelling in which they came, each value by itself. */
export type Headers = [name: string, value: string][]

/** Headers that belong to one connection and not to the message (RFC 9110 section 7.6.1). */
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

/** The headers in which a run presents its ticket or task. They are never passed on. */
const ticketHeaders = ['x-skerry-ticket', 'x-seekrit-ticket'] as const

export function pairs(raw: readonly string[]): Headers {
  const all: Headers = []
  for (let at = 0; at + 1 < raw.length; at += 2) all.push([raw[at]!, raw[at + 1]!])
  return all
}

/** Removes the headers that belong to the connection, and those that `more` names. */
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

/** Some servers use the method or path in these headers, but the rule has checked another one. */
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

/** Removes the headers that change method or path, except those that the settings write. */
export const withoutOverrides = (headers: Headers, own: Readonly<Record<string, string>>): Headers =>
  headers.filter(([name]) => !overrides.has(name.toLowerCase()) || Object.hasOwn(own, name.toLowerCase()))

/** The headers of the request that say how long its body is, for a body that is streamed. */
export const framing = (headers: Headers): Headers => [
  ...valuesOf(headers, 'content-length').map((length): Headers[number] => ['Content-Length', length]),
  ...valuesOf(headers, 'transfer-encoding').map((): Headers[number] => ['Transfer-Encoding', 'chunked']),
]

/** Whether a name equals a name in lower case. Most differ in length, so they need no conversion. */
export const isNamed = (name: string, wanted: string): boolean =>
  name.length === wanted.length && name.toLowerCase() === wanted

export const valuesOf = (headers: Headers, wanted: string): string[] =>
  headers.filter(([name]) => isNamed(name, wanted)).map(([, value]) => value)

/**
 * Returns the ticket of a request. Two different tickets are refused, because the proxy must not choose between them.
 */
export function ticketOf(headers: Headers): string | undefined {
  const all = new Set(ticketHeaders.flatMap((name) => valuesOf(headers, name)))
  if (all.size > 1) throw badRequest('the request has two tickets')
  return [...all][0]
}

/**
 * Refuses requests that Node's parser accepts, but that two readers could understand differently. The parser itself
 * refuses a length beside a transfer coding, two lengths, folded lines, and characters that no header can have.
 */
export function checkForm(request: IncomingMessage, headers: Headers): void {
  if (valuesOf(headers, 'host').length > 1) throw badRequest('the request has two Host headers')
  const codings = valuesOf(headers, 'transfer-encoding')
  if (codings.length > 0 && (codings.length > 1 || codings[0]!.trim().toLowerCase() !== 'chunked'))
    throw badRequest('the proxy accepts no transfer coding but chunked')
  if (codings.length > 0 && request.httpVersion === '1.0')
    throw badRequest('an HTTP/1.0 request cannot have a transfer coding')
}

const targetForm = /^\/[\x21\x22\x24-\x7e]*$/

/** Checks a path with its query, and returns it. */
export function checkTarget(target: string): string {
  if (!targetForm.test(target)) throw badRequest('the request target must be a path in printable ASCII')
  return target
}
