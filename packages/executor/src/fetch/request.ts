import { validateHeaderName, validateHeaderValue } from 'node:http'
import { given, needed, object, type Read, text } from '@skerry/proxy/config/read'
import type { Headers } from '@skerry/proxy/headers'
import { fail } from '../http/refusal.ts'

/** A request for a provider, with placeholders for the credential. */
export interface Wanted {
  method: string
  url: URL
  headers: Headers
  body: Buffer | null
}

const headersOf: Read<Headers> = (value, place) => {
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    throw fail('invalid_request', `${place}: must be an object`)
  return Object.entries(value).map(([name, one]) => {
    try {
      validateHeaderName(name)
      validateHeaderValue(name, one)
    } catch {
      throw fail('invalid_request', `${place}: contains a name or value that is not valid in a header`)
    }
    return [name, String(one)]
  })
}

/** Any text, also an empty one. */
const anyText: Read<string> = (value, place) => {
  if (typeof value !== 'string') throw fail('invalid_request', `${place}: must be text`)
  return value
}

const wanted = object({
  userRef: needed(text),
  connectionId: needed(text),
  request: needed(
    object({
      method: needed(text),
      url: needed(text),
      headers: given(headersOf, []),
      body: given(anyText, null),
    }),
  ),
})

/** A URL must not contain a placeholder, because URLs end up in the logs of both sides. */
const marker = /(?:\{|%7b){2}(?:skerry|seekrit)(?::|%3a)/i

/** @throws VaultRefusal `invalid_request` with the path of the wrong field. */
export function readWanted(body: unknown): { userRef: string; connectionId: string; request: Wanted } {
  const { userRef, connectionId, request } = wanted(body, '')
  const url = URL.parse(request.url)
  // The parsed URL is checked too, because parsing removes line breaks.
  if ([request.url, url?.href ?? ''].some((one) => marker.test(one)))
    throw fail('invalid_request', 'request.url: must not contain a placeholder; headers and body can')
  if (!url || !/^https?:$/.test(url.protocol)) throw fail('invalid_request', 'request.url: must be an https:// address')
  if (url.username || url.password)
    throw fail('invalid_request', 'request.url: must not contain a user name or password')
  const method = request.method.toUpperCase()
  if (!/^(?:GET|HEAD|POST|PUT|PATCH|DELETE|OPTIONS)$/.test(method))
    throw fail('invalid_request', 'request.method: this method is not supported')
  const sent = request.body === null ? null : Buffer.from(request.body)
  if (sent !== null && method === 'GET') throw fail('invalid_request', 'request.body: a GET request cannot have a body')
  return { userRef, connectionId, request: { method, url, headers: request.headers, body: sent } }
}
