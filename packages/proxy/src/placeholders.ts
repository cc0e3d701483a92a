import { substitute } from '@skerry/crypto/placeholders'
import { isAmbiguousPath } from '@skerry/crypto/policy-path-form'
import type { Place } from './config/rules.ts'
import { type Headers, isNamed } from './headers.ts'
import { badRequest, Refusal } from './refusal.ts'

/** Returns the value of a name for this request, or throws a refusal. */
export type ValueOf = (name: string) => string

/**
 * Returns the value that a placeholder names, for the given part of this request, or throws a refusal. `own` is a header
 * that the settings write.
 */
export type ValueIn = (name: string, place: Place | 'own') => string

/** A request before or after its placeholders were filled in. */
export interface Fillable {
  target: string
  headers: Headers
  body: Buffer | null
  /** Names of the headers that the settings write, in lower case. */
  own?: ReadonlySet<string>
}

/** Most requests contain no placeholder. This is checked before anything is decoded. */
const mark = '{{s'

/** Clients that encode a URL or a form also encode the braces. */
const encodedMarker = /(?:\{|%7b){2}(skerry|seekrit)(?::|%3a)([A-Za-z0-9_]+)(?:\}|%7d){2}/gi
const decodeMarkers = (text: string) =>
  text.replace(encodedMarker, (_, word: string, name: string) => `{{${word.toLowerCase()}:${name}}}`)

/**
 * Fills in every placeholder of a request: in its path and query, its headers, and its body. A value is encoded for its
 * place: JSON stays valid JSON, and no value ends a header or a path.
 *
 * @throws Refusal for the first name that may not be used here. Nothing has been sent then.
 */
export function fill(request: Fillable, give: ValueIn): Fillable {
  const inHeader = (header: string): ValueOf => {
    const place = request.own?.has(header.toLowerCase()) ? 'own' : 'header'
    return (name) => give(name, place)
  }
  return {
    target: fillTarget(request.target, give),
    headers: request.headers.map(([name, value]) => [name, fillHeader(name, value, inHeader(name))]),
    body: request.body && fillBody(request.body, request.headers, (name) => give(name, 'body')),
  }
}

const put = (text: string, give: ValueOf, write: (value: string, name: string) => string): string =>
  substitute(text, (name) => ({ value: write(give(name), name) })).text

function fillTarget(target: string, give: ValueIn): string {
  if (!/(?:\{|%7b){2}s/i.test(target)) return target
  const marked = decodeMarkers(target)
  const query = marked.indexOf('?')
  const end = query === -1 ? marked.length : query
  const path = put(marked.slice(0, end), (name) => give(name, 'path'), encodeForPath)
  if (isAmbiguousPath(path) && !isAmbiguousPath(marked.slice(0, end)))
    throw new Refusal(403, 'bad_value', 'the value of a secret would change which path is requested')
  return path + put(marked.slice(end), (name) => give(name, 'query'), encodeForQuery)
}

/**
 * Percent-encodes a value for a path. The rule was checked before the value was known, so a value must stay in its
 * segment. A `%2f` in a value is encoded again, because an upstream would decode it to a `/`. A value with any character
 * to encode is encoded as `encodeURIComponent` does: the redaction finds this form in an answer.
 */
const encodeForPath = (value: string) => (/[^\w!$&'()*+,.:=@~-]/.test(value) ? encodeURIComponent(value) : value)

/** Percent-encodes the characters that a query cannot contain. Other characters stay as they were stored. */
const encodeForQuery = (value: string) =>
  value.replace(/[^\x21\x24\x26-\x3b\x3d\x3f-\x5b\x5d\x5f\x61-\x7a\x7e%]|%(?![0-9A-Fa-f]{2})/gu, (one) =>
    encodeURIComponent(one),
  )

function fillHeader(name: string, value: string, give: ValueOf): string {
  if (isNamed(name, 'authorization') && /^basic /i.test(value)) return fillBasic(value, give)
  return value.includes(mark) ? put(value, give, headerValue) : value
}

/** Fills in `user:{{skerry:NAME}}`, which clients send in base64. */
function fillBasic(value: string, give: ValueOf): string {
  const credentials = Buffer.from(value.slice('basic '.length), 'base64').toString('latin1')
  if (!credentials.includes(mark)) return value
  const filled = put(credentials, give, (one) => Buffer.from(one, 'utf8').toString('latin1'))
  return `Basic ${Buffer.from(filled, 'latin1').toString('base64')}`
}

/** Converts UTF-8 to the bytes of a header. */
function headerValue(value: string, name: string): string {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: a line break in a header would begin another header
  if (/[\u0000-\u0008\u000a-\u001f\u007f]/.test(value))
    throw new Refusal(
      403,
      'bad_value',
      `the value of ${name} has a line break or a control character, so it cannot be sent in a header`,
      name,
    )
  return Buffer.from(value, 'utf8').toString('latin1')
}

/** How a value is encoded for a body of some type. */
const writers: readonly [type: RegExp, write: (value: string) => string][] = [
  [/^[^;]*[/+]json\b/i, (value) => JSON.stringify(value).slice(1, -1)],
  [/^application\/x-www-form-urlencoded\b/i, encodeURIComponent],
]

function fillBody(body: Buffer, headers: Headers, give: ValueOf): Buffer {
  const type = headers.find(([name]) => isNamed(name, 'content-type'))?.[1] ?? ''
  const isForm = /^application\/x-www-form-urlencoded\b/i.test(type)
  if (!body.includes(mark) && !(isForm && /%7b%7bs/i.test(body.toString('latin1')))) return body
  const write = writers.find(([form]) => form.test(type))?.[1] ?? ((value: string) => value)
  // Latin-1 keeps bytes that are no text unchanged, and the markers are ASCII.
  const text = body.toString('latin1')
  const filled = put(isForm ? decodeMarkers(text) : text, give, (value) =>
    Buffer.from(write(value), 'utf8').toString('latin1'),
  )
  return Buffer.from(filled, 'latin1')
}

/** Refuses placeholders in trailers, because they would be sent without being filled in. */
export function checkTrailers(raw: readonly string[]): void {
  if (raw.some((text) => text.includes(mark))) throw badRequest('a trailer cannot contain a placeholder')
}
