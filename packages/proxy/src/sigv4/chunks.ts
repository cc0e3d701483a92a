import { SigningError } from './scope.ts'
import { sha256 } from './signer.ts'

/** Signs one chunk after another. Each signature covers the one before it. */
export interface ChunkSigner {
  /**
   * The time and the scope that are signed, for example `20261004T120000Z` and `20261004/eu-central-1/s3/aws4_request`.
   */
  longDate: string
  scope: string
  /** The signature in the request's own header. */
  seed: string
  sign: (text: string) => Promise<string>
  hasTrailer: boolean
}

/** SDKs send 64 KiB to 1 MiB. The signature of a chunk comes before its data, so the whole chunk is in memory. */
const chunkMaxBytes = 16 * 1024 * 1024
const lineMaxBytes = 8192

const headForm = /^([0-9a-fA-F]{1,8});chunk-signature=[0-9a-f]{64}$/
const trailerForm = /^([a-z0-9-]+):([\x21-\x7e]*)$/

const emptyHash = sha256('')

/**
 * Signs the chunks of a body again (`STREAMING-AWS4-HMAC-SHA256-PAYLOAD`). The new signatures take the place of the old
 * ones, so the length of the body does not change.
 *
 * @throws SigningError `malformed`, also in the middle: the body then ends without its last chunk, and is invalid.
 */
export async function* signChunks(body: AsyncIterable<Uint8Array>, signer: ChunkSigner): AsyncGenerator<Uint8Array> {
  const { longDate, scope, sign, hasTrailer } = signer
  const bytes = readerOf(body)
  let before = signer.seed
  for (;;) {
    const [, size] = headForm.exec(await bytes.line()) ?? []
    if (size === undefined) throw malformed('a chunk has no signature')
    const data = await bytes.take(Number.parseInt(size, 16))
    const text = ['AWS4-HMAC-SHA256-PAYLOAD', longDate, scope, before, emptyHash, sha256(data)].join('\n')
    before = await sign(text)
    yield Buffer.from(`${size};chunk-signature=${before}\r\n`)
    if (data.length === 0) break
    if ((await bytes.line()) !== '') throw malformed('a chunk is longer than its stated size')
    yield data
    yield Buffer.from('\r\n')
  }
  const trailer = await trailerOf(bytes)
  if (trailer.length > 0 !== hasTrailer) throw malformed('the trailers after the last chunk are not the announced ones')
  if (hasTrailer) {
    const canonical = trailer.map(([name, value]) => `${name}:${value}\n`).sort()
    const text = ['AWS4-HMAC-SHA256-TRAILER', longDate, scope, before, sha256(canonical.join(''))].join('\n')
    const lines = trailer.map(([name, value]) => `${name}:${value}\r\n`)
    yield Buffer.from(`${lines.join('')}x-amz-trailer-signature:${await sign(text)}\r\n`)
  }
  yield Buffer.from('\r\n')
  await bytes.end()
}

/**
 * Reads the lines after the last chunk, up to an empty one. Returns them without their signature, which must be the
 * last of them.
 */
async function trailerOf(bytes: Reader): Promise<[name: string, value: string][]> {
  const lines: [string, string][] = []
  for (;;) {
    const line = await bytes.line()
    if (line === '') break
    const [, name, value] = trailerForm.exec(line) ?? []
    if (name === undefined || value === undefined || lines.length > 16) throw malformed('the trailer is malformed')
    lines.push([name, value])
  }
  const last = lines.pop()
  if (last !== undefined && (last[0] !== 'x-amz-trailer-signature' || lines.length === 0))
    throw malformed('the trailer has no signature')
  return lines
}

interface Reader {
  /** Reads up to a line break, and returns the line without it. */
  line: () => Promise<string>
  take: (length: number) => Promise<Uint8Array>
  /** Throws if anything is left. */
  end: () => Promise<void>
}

function readerOf(body: AsyncIterable<Uint8Array>): Reader {
  const chunks = body[Symbol.asyncIterator]()
  let rest: Uint8Array = Buffer.alloc(0)
  const more = async (): Promise<Uint8Array> => {
    const { done, value } = await chunks.next()
    if (done) throw malformed('the body ended too early')
    return value
  }
  return {
    line: async () => {
      let at = rest.indexOf(10)
      while (at === -1) {
        if (rest.length > lineMaxBytes) throw malformed('a line of the body is too long')
        const from = rest.length
        rest = Buffer.concat([rest, await more()])
        at = rest.indexOf(10, from)
      }
      if (rest[at - 1] !== 13) throw malformed('a line of the body is incomplete')
      const line = Buffer.from(rest.subarray(0, at - 1)).toString('latin1')
      rest = rest.subarray(at + 1)
      return line
    },
    take: async (length) => {
      if (length > chunkMaxBytes) throw malformed(`a chunk is larger than ${chunkMaxBytes} bytes`)
      const parts = [rest]
      let have = rest.length
      while (have < length) {
        const part = await more()
        parts.push(part)
        have += part.length
      }
      const all = parts.length === 1 ? rest : Buffer.concat(parts)
      rest = all.subarray(length)
      return all.subarray(0, length)
    },
    end: async () => {
      let left = rest.length
      for (let next = await chunks.next(); !next.done; next = await chunks.next()) left += next.value.length
      if (left > 0) throw malformed('there are bytes after the end of the body')
    },
  }
}

const malformed = (message: string) => new SigningError('malformed', message)
