import { Transform } from 'node:stream'
import { type Encoding, encodings, formsOf } from './forms.ts'
import { type Search, searchFor } from './search.ts'

export interface Secret {
  name: string
  value: string
}

export interface RedactorSettings {
  /** The text that replaces a value. If it ends in a bracket, the secret's name is added before that bracket. */
  placeholder?: string
  /** The encodings to search. Default: all. */
  encodings?: readonly Encoding[] | null
  /** The shortest value that is replaced, in bytes. */
  minBytes?: number
}

export interface Redactor {
  /** Returns the redacted bytes so far. Keeps back an end that may be the beginning of a value. */
  transform: (chunk: Uint8Array) => Uint8Array
  /** Returns the bytes that were kept back, at the end of the stream. */
  flush: () => Uint8Array
  /** Redacts complete bytes, with nothing before or after them. Returns the same object if it replaces nothing. */
  whole: (bytes: Uint8Array) => Uint8Array
  /** How often each secret was replaced, by name. */
  counts: Map<string, number>
}

/**
 * The length in bytes from which a value is redacted. Shorter values are words such as `on` and `8080`, which would be
 * removed from every text.
 */
const minBytesDefault = 6

/** The encoded forms of so short a value are a few letters that occur in ordinary text. */
const isWord = (value: string) => Buffer.byteLength(value) < minBytesDefault

const placeholderDefault = '[redacted by skerry]'

export interface RedactorOptions {
  /** Counts that several redactors share, for example those of the head and the body of one answer. */
  counts?: Map<string, number>
  /**
   * Makes a replacement exactly as long as the text that it replaces, for a body whose length is already sent in the
   * head.
   */
  keepsLength?: boolean
}

/** Creates redactors that share one search. */
export type Redaction = (options?: RedactorOptions) => Redactor

/**
 * Builds the search for some secrets. All answers to one agent can share it, because building it costs more than using
 * it.
 */
export function redaction(secrets: readonly Secret[], settings: RedactorSettings = {}): Redaction {
  const { placeholder = placeholderDefault, encodings: wanted, minBytes = minBytesDefault } = settings
  const sought = secrets.filter(({ value }) => Buffer.byteLength(value) >= minBytes)
  const needles = sought.flatMap(({ name, value }) =>
    formsOf(value, isWord(value) ? [] : (wanted ?? encodings)).map((bytes) => ({ bytes, name })),
  )
  const search = searchFor(needles)
  const placeholders = new Map(
    secrets.map(({ name }) => [name, Buffer.from(placeholder.replace(/\]$/, () => `: ${name}]`))]),
  )
  return (options) => redactorOf(search, placeholders, options)
}

/**
 * Replaces secrets in a stream of bytes, in plain text and in all encodings of `forms.ts`, also across the ends of
 * chunks. The first match wins, and of several matches at one position the longest. It keeps back fewer bytes than the
 * longest form has.
 *
 * @example
 * const { transform, flush, counts } = redactor([{ name: 'API_KEY', value }])
 */
export const redactor = (secrets: readonly Secret[], settings?: RedactorSettings): Redactor =>
  redaction(secrets, settings)()

const nothing: Uint8Array = Buffer.alloc(0)

function redactorOf(
  search: Search,
  placeholders: ReadonlyMap<string, Buffer>,
  { counts = new Map(), keepsLength = false }: RedactorOptions = {},
): Redactor {
  let held = nothing

  /**
   * Replaces the values that begin before `before`. Returns the end of the last one. All bytes up to there are in
   * `parts`.
   */
  const replaceUntil = (before: number, bytes: Uint8Array, from: number, parts: Uint8Array[]): number => {
    let end = from
    for (let found = search.next(bytes, from, before); found; found = search.next(bytes, end, before)) {
      const { name, bytes: form } = found.needle
      const placeholder = placeholders.get(name)!
      parts.push(bytes.subarray(end, found.at), keepsLength ? fitted(placeholder, form.length) : placeholder)
      counts.set(name, (counts.get(name) ?? 0) + 1)
      end = found.at + form.length
    }
    return end
  }

  /** Replaces the values that begin in `held` and may end in the chunk. Returns where the rest of the chunk begins. */
  const replaceHeld = (chunk: Uint8Array, parts: Uint8Array[]): number => {
    const joined = Buffer.concat([held, chunk.subarray(0, search.longest)])
    const end = replaceUntil(held.length, joined, 0, parts)
    if (end < held.length) parts.push(joined.subarray(end, held.length))
    return Math.max(0, end - held.length)
  }

  const replace = (bytes: Uint8Array, isLast: boolean, parts: Uint8Array[] = [], start = 0): Uint8Array => {
    let from = start
    let open: number
    do {
      // The possible beginning of a value may turn out to be a part of the value before it.
      open = isLast ? bytes.length : search.open(bytes, from)
      from = replaceUntil(open, bytes, from, parts)
    } while (from > open)
    // A copy, because the caller may reuse the buffer of the chunk.
    held = open === bytes.length ? nothing : Buffer.from(bytes.subarray(open))
    if (parts.length > 0) return Buffer.concat([...parts, bytes.subarray(from, open)])
    return held === nothing ? bytes : bytes.subarray(0, open)
  }

  const transform = (chunk: Uint8Array): Uint8Array => {
    if (held.length === 0) return replace(chunk, false)
    if (chunk.length < search.longest) return replace(Buffer.concat([held, chunk]), false)
    // A long chunk is not joined with `held`, because the copy would cost as much as the search.
    const parts: Uint8Array[] = []
    return replace(chunk, false, parts, replaceHeld(chunk, parts))
  }
  return { transform, flush: () => replace(held, true), whole: (bytes) => replace(bytes, true), counts }
}

/** Fits a placeholder into a number of bytes: cuts it, or fills it up with asterisks. */
const fitted = (placeholder: Buffer, length: number): Buffer => {
  const bytes = Buffer.alloc(length, '*')
  placeholder.copy(bytes)
  return bytes
}

/**
 * Wraps a redactor in a Node stream.
 *
 * @param pauseMs after this time without new bytes, the bytes that were kept back are sent, because a person may wait
 * for a prompt that ends like the beginning of a secret. Without it, they are kept until more bytes come.
 */
export function redactStream({ transform, flush }: Redactor, pauseMs?: number): Transform {
  let pause: NodeJS.Timeout | undefined
  return new Transform({
    transform(chunk: Buffer, _, done) {
      clearTimeout(pause)
      if (pauseMs !== undefined) pause = setTimeout(() => this.push(flush()), pauseMs).unref()
      done(null, transform(chunk))
    },
    flush(done) {
      clearTimeout(pause)
      done(null, flush())
    },
    destroy(error, done) {
      clearTimeout(pause)
      done(error)
    },
  })
}
