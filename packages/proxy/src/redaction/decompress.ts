import { Duplex, Readable, Transform } from 'node:stream'
import { createBrotliDecompress, createGunzip, createInflate, createInflateRaw, createZstdDecompress } from 'node:zlib'

export interface DecompressionLimits {
  /** The most bytes of output. */
  maxBytes: number
  /** How many times larger than the input the output may be, once the output exceeds `freeBytes`. */
  maxRatio: number
  freeBytes: number
}

/** Repetitive text shrinks about a hundredfold. A body that shrinks more was made for an attack. */
export const decompressionLimits: DecompressionLimits = {
  maxBytes: 4 * 1024 ** 3,
  maxRatio: 250,
  freeBytes: 4 * 1024 ** 2,
}

/** A body that grows beyond the limits, or that has an unknown encoding. */
class DecompressionError extends Error {
  override readonly name = 'DecompressionError'
  readonly reason: 'too_large' | 'unknown_encoding'

  constructor(reason: DecompressionError['reason'], message: string) {
    super(message)
    this.reason = reason
  }
}

const decoders: Readonly<Record<string, () => Duplex>> = {
  gzip: () => unlessEmpty(() => createGunzip()),
  'x-gzip': () => unlessEmpty(() => createGunzip()),
  br: () => unlessEmpty(() => createBrotliDecompress()),
  // RFC 9110 means the zlib format. Some servers send raw deflate, whose first byte is never that of a zlib header.
  deflate: () => unlessEmpty((first) => (isZlib(first) ? createInflate() : createInflateRaw())),
  zstd: () => unlessEmpty(() => createZstdDecompress()),
}

/** The most encodings of one body, because they are undone one after another. More are treated as an attack. */
const layersMax = 2

/**
 * Returns the streams that undo a `Content-Encoding`, one after another. A body without one needs none. The output is
 * limited as it flows, so no body is larger in memory than a chunk.
 *
 * @throws DecompressionError `unknown_encoding`: such a body cannot be searched, so it must not pass.
 * @example await pipeline([createReadStream('body.br.gz'), ...decompression('br, gzip'), process.stdout])
 */
export function decompression(encoding: string | undefined, limits = decompressionLimits): Duplex[] {
  const wanted = codingsOf(encoding).reverse()
  if (wanted.length > layersMax)
    throw new DecompressionError('unknown_encoding', `the body has too many encodings (${wanted.length})`)
  return wanted.flatMap((one) => {
    if (!Object.hasOwn(decoders, one))
      throw new DecompressionError('unknown_encoding', 'the body has an encoding that the proxy does not know')
    return bounded(decoders[one]!(), limits)
  })
}

/** The codings in a `Content-Encoding`, in the order in which they were applied. */
export const codingsOf = (encoding: string | undefined): string[] =>
  (encoding ?? '')
    .toLowerCase()
    .split(',')
    .map((one) => one.trim())
    .filter((one) => one !== '' && one !== 'identity')

export const canDecompress = (codings: readonly string[]): boolean =>
  codings.length <= layersMax && codings.every((coding) => Object.hasOwn(decoders, coding))

/** Puts a decoder between two streams that count bytes. */
function bounded(decoder: Duplex, { maxBytes, maxRatio, freeBytes }: DecompressionLimits): Duplex[] {
  let [came, left] = [0, 0]
  const before = new Transform({
    transform: (chunk: Buffer, _, done) => {
      came += chunk.length
      done(null, chunk)
    },
  })
  const after = new Transform({
    transform: (chunk: Buffer, _, done) => {
      left += chunk.length
      const isTooLarge = left > maxBytes || (left > freeBytes && left > came * maxRatio)
      if (isTooLarge) done(new DecompressionError('too_large', 'the body is too large after decompression'))
      else done(null, chunk)
    },
  })
  return [before, decoder, after]
}

/** An answer without a body may still name an encoding. A decoder would report the missing bytes as damage. */
const unlessEmpty = (open: (first: number) => Duplex): Duplex =>
  Duplex.from(async function* (source: AsyncIterable<Buffer>) {
    const chunks = source[Symbol.asyncIterator]()
    const first = await chunks.next()
    if (first.done) return
    async function* all() {
      yield first.value as Buffer
      yield* { [Symbol.asyncIterator]: () => chunks }
    }
    const decoder = open(first.value[0]!)
    const bytes = Readable.from(all())
    bytes.once('error', (error) => decoder.destroy(error))
    yield* bytes.pipe(decoder)
  })

const isZlib = (first: number) => (first & 0x0f) === 8 && first >> 4 <= 7
