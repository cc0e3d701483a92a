import type { IncomingMessage, ServerResponse } from 'node:http'
import { type Duplex, pipeline, Transform } from 'node:stream'
import { createBrotliDecompress, createGunzip, createInflate, createZstdDecompress } from 'node:zlib'
import type { Core } from './core.ts'
import { endToEnd, type Headers, pairs, valuesOf } from './headers.ts'
import { Refusal } from './refusal.ts'

/** A value that went out with a request, by its name. */
export interface Injected {
  name: string
  value: string
}

/** Replaces values in one stream of bytes. */
export interface Redactor {
  transform(chunk: Uint8Array): Uint8Array
  flush(): Uint8Array
  /** How often each name was replaced. */
  counts: Map<string, number>
}

export type RedactorFactory = (
  secrets: Injected[],
  options: { placeholder: string; encodings: readonly ('percent' | 'json' | 'base64')[] | null },
) => Redactor

const decoders: Readonly<Record<string, () => Duplex>> = {
  gzip: createGunzip,
  'x-gzip': createGunzip,
  deflate: createInflate,
  br: createBrotliDecompress,
  zstd: createZstdDecompress,
}

/** Sends an upstream's answer to the client; values that are not to come back are replaced on the way. */
export function pass(
  core: Core,
  answer: IncomingMessage,
  response: ServerResponse,
  injected: Injected[],
  host: string,
) {
  const wanted = hidden(core, injected)
  const headers = endToEnd(pairs(answer.rawHeaders))
  const { statusCode = 502, statusMessage } = answer
  if (wanted.length === 0) {
    response.writeHead(statusCode, statusMessage, headers.flat())
    pipeline(answer, response, () => {})
    return
  }
  const redactions = redactionsOf(core, wanted)
  const coding = valuesOf(headers, 'content-encoding').join(',').trim().toLowerCase()
  const decoder = coding === '' || coding === 'identity' ? null : decoders[coding]
  if (decoder === undefined)
    throw new Refusal(502, 'upstream', 'the answer is packed in a way that cannot be looked into')
  const dropped = new Set(['content-length', ...(decoder ? ['content-encoding'] : [])])
  const kept = headers.filter(([name]) => !dropped.has(name.toLowerCase()))
  response.writeHead(statusCode, redactions.headers(kept).flat())
  const ended = () => tell(core, redactions.counts, host)
  const body = redactions.stream()
  if (decoder) pipeline(answer, decoder(), bounded(answer), body, response, ended)
  else pipeline(answer, body, response, ended)
}

/** Values that must not come back, long enough to be told from ordinary text. */
export function hidden({ redactor, config, secrets }: Core, injected: Injected[]): Injected[] {
  if (redactor === null) return []
  const { scan, minLength } = config.redaction
  const all = scan === 'all' ? [...secrets.all()].map(([name, value]) => ({ name, value })) : injected
  return all.filter(({ value }) => value.length >= minLength)
}

/** No header holds it. */
const between = '\0'

/** Redactors of one answer, which count together. */
export function redactionsOf({ redactor, config }: Core, secrets: Injected[]) {
  const { placeholder, encodings } = config.redaction
  const counts = new Map<string, number>()
  const open = () => redactor!(secrets, { placeholder, encodings })
  const count = (one: Redactor) => {
    for (const [name, times] of one.counts) counts.set(name, (counts.get(name) ?? 0) + times)
  }
  return {
    counts,
    /** All values of an answer's head at once: making a redactor costs more than using it. */
    headers(headers: Headers): Headers {
      const one = open()
      const values = headers.map(([, value]) => value).join(between)
      const parts = [one.transform(Buffer.from(values, 'latin1')), one.flush()]
      count(one)
      const redacted = Buffer.concat(parts).toString('latin1').split(between)
      return headers.map(([name], at) => [name, redacted[at] ?? ''])
    },
    stream(): Transform {
      const one = open()
      return new Transform({
        transform: (chunk: Buffer, _, done) => done(null, one.transform(chunk)),
        flush: (done) => {
          const last = one.flush()
          count(one)
          done(null, last)
        },
      })
    },
  }
}

/** An answer may unpack to much more than it was; one that unpacks without end was made to. */
const unpackedFree = 64 * 1024 * 1024
const ratioMax = 200

function bounded(packed: IncomingMessage): Transform {
  let taken = 0
  let unpacked = 0
  packed.on('data', (chunk: Buffer) => {
    taken += chunk.length
  })
  return new Transform({
    transform(chunk: Buffer, _, done) {
      unpacked += chunk.length
      const isBomb = unpacked > unpackedFree && unpacked > taken * ratioMax
      done(isBomb ? new Error('unpacks without end') : null, chunk)
    },
  })
}

export function tell({ warn }: Core, counts: ReadonlyMap<string, number>, host: string): void {
  for (const [name, times] of counts) warn(`${host} sent ${name} back: replaced ${times} times`)
}
