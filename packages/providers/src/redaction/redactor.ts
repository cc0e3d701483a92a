import { Transform } from 'node:stream'
import { type Encoding, encodings, formsOf } from './forms.ts'
import { type Search, searchFor } from './search.ts'

export interface Secret {
  name: string
  value: string
}

export interface RedactorSettings {
  /** What stands for a value. One that ends in a bracket names the secret before it. */
  placeholder?: string
  /** All of them unless given. */
  encodings?: readonly Encoding[] | null
  /** In bytes. Shorter values are left alone. */
  minBytes?: number
}

export interface Redactor {
  /** What is certain of all that came so far; the end is held back where it may be the beginning of a value. */
  transform: (chunk: Uint8Array) => Uint8Array
  /** What was held back, at the end. */
  flush: () => Uint8Array
  /** Bytes that have come all at once, with nothing before or behind them; the same ones where nothing is replaced. */
  whole: (bytes: Uint8Array) => Uint8Array
  /** By name, how often a value was replaced. */
  counts: Map<string, number>
}

/** In bytes. Shorter values are words like `on` and `8080`, which would be cut out of everything. */
const minBytesDefault = 6

/** Encoded, so short a value is a few letters that stand in ordinary text. */
const isWord = (value: string) => Buffer.byteLength(value) < minBytesDefault

const placeholderDefault = '[redacted by skerry]'

export interface RedactorOptions {
  /** Shared by several redactors, for example of the head and the body of one answer. */
  counts?: Map<string, number>
  /** A replacement is exactly as long as the text that it replaces: for a body whose length the head has told. */
  keepsLength?: boolean
}

/** Makes redactors that share one search. */
export type Redaction = (options?: RedactorOptions) => Redactor

/** The search for some secrets, which every answer to one agent can share: building it costs more than using it. */
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
 * Replaces secrets in a stream of bytes: as they are and in all encodings of `forms.ts`, also where a chunk ends in the middle of
 * one. The first place wins, and there the longest value. What it holds back is shorter than the longest form.
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

  /** Replaces the values that begin before `before`, and returns where the last one ends. All up to there is in `parts`. */
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

  /** Replaces the values that begin in the held bytes and may end in the chunk. Returns where the rest of the chunk begins. */
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
    // A copy: the caller may fill the chunk's buffer again.
    held = open === bytes.length ? nothing : Buffer.from(bytes.subarray(open))
    if (parts.length > 0) return Buffer.concat([...parts, bytes.subarray(from, open)])
    return held === nothing ? bytes : bytes.subarray(0, open)
  }

  const transform = (chunk: Uint8Array): Uint8Array => {
    if (held.length === 0) return replace(chunk, false)
    if (chunk.length < search.longest) return replace(Buffer.concat([held, chunk]), false)
    // A long chunk is not copied to be joined: that would cost as much as the search.
    const parts: Uint8Array[] = []
    return replace(chunk, false, parts, replaceHeld(chunk, parts))
  }
  return { transform, flush: () => replace(held, true), whole: (bytes) => replace(bytes, true), counts }
}

/** A placeholder in so many bytes: cut off, or filled up with asterisks. */
const fitted = (placeholder: Buffer, length: number): Buffer => {
  const bytes = Buffer.alloc(length, '*')
  placeholder.copy(bytes)
  return bytes
}

/**
 * The same as a stream of Node.
 *
 * @param pauseMs after so long without bytes, what was held back is let go: a person waits for a prompt that ends like the beginning
 * of a secret. Without it, everything is held until more comes.
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
