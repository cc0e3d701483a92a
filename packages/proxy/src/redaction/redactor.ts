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

  const replace = (bytes: Uint8Array, isLast: boolean): Uint8Array => {
    const parts: Uint8Array[] = []
    let from = 0
    const openFrom = () => (isLast ? bytes.length : search.open(bytes, from))
    let open = openFrom()
    for (;;) {
      const found = search.next(bytes, from, open)
      if (found === undefined) break
      const { name, bytes: form } = found.needle
      const placeholder = placeholders.get(name)!
      parts.push(bytes.subarray(from, found.at), keepsLength ? fitted(placeholder, form.length) : placeholder)
      counts.set(name, (counts.get(name) ?? 0) + 1)
      from = found.at + form.length
      // What may have been the beginning of another value was a part of this one.
      if (from > open) open = openFrom()
    }
    // A copy: the caller may fill the chunk's buffer again.
    held = open === bytes.length ? nothing : Buffer.from(bytes.subarray(open))
    if (parts.length > 0) return Buffer.concat([...parts, bytes.subarray(from, open)])
    return held === nothing ? bytes : bytes.subarray(0, open)
  }
  return {
    transform: (chunk) => replace(held.length === 0 ? chunk : Buffer.concat([held, chunk]), false),
    flush: () => replace(held, true),
    whole: (bytes) => replace(bytes, true),
    counts,
  }
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
