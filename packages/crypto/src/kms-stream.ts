import { type Bytes, encodeUtf8 } from './base64url.ts'
import { CryptoError } from './errors.ts'
import { importAesKey, ivLengthBytes, tagLengthBytes } from './gcm.ts'
import { hkdf } from './hkdf.ts'
import { type KeyVersion, newDataKey, type SealingKey, versionOf } from './kms.ts'

// Encrypts a stream of any length under its own data key, in chunks. Each chunk is authenticated with its position, and
// the last one is authenticated as the last (the STREAM construction of Hoang, Reyhanitabar, Rogaway and Vizár, 2015).
// docs/kms-format.md describes the format.

/** The first line: this text, a space, the wrapped data key, a line feed. */
const magic = 'skerry-kms-1'
const headerMaxBytes = 512

const chunkBytes = 1024 * 1024
const sealedChunkBytes = chunkBytes + tagLengthBytes

/**
 * Derives a separate key for streams. A data key that is also used elsewhere then never meets the nonces of a stream.
 */
const streamLabel = 'skerry/kms-stream/v1'

/** The number of chunks in progress at a time, so that reading, encrypting and writing overlap. */
const ahead = 4

/** Whether bytes begin like a sealed stream. */
export const isSealedStream = (start: Uint8Array): boolean =>
  new TextDecoder().decode(start.subarray(0, magic.length + 1)) === `${magic} `

/**
 * Encrypts a stream of any length.
 *
 * @param source pieces of any size. Pieces of 1 MiB are not copied.
 * @param context as for `sealManaged`.
 * @throws CryptoError `malformed_text`; the errors of the source.
 * @example for await (const bytes of sealStream(file, sealingKey)) await out.write(bytes)
 */
export async function* sealStream(
  source: AsyncIterable<Bytes>,
  key: SealingKey,
  context = '',
): AsyncGenerator<Bytes, void, void> {
  const { plaintext, wrapped } = await newDataKey(key)
  const cipher = await chunkCipher(plaintext, context)
  yield encodeUtf8(`${magic} ${wrapped}\n`)
  yield* inOrder(chunksOf(source, chunkBytes), cipher.seal)
}

/**
 * Decrypts a stream from {@link sealStream}. The bytes that come out are authentic and in order. The stream is known to
 * be complete only when the generator ends without an error.
 *
 * @param dataKeyOf opens the wrapped data key. It gets the id and version of the managed key.
 * @throws CryptoError `malformed_blob` for anything but such a stream; `decryption_failed` for a stream that was cut,
 *   extended, reordered or altered, or has another context; the errors of `dataKeyOf` and the source.
 * @example
 * const opened = openStream(file, (_, wrapped) => openDataKey(wrapped, sealingKey))
 * for await (const bytes of opened) await out.write(bytes)
 */
export async function* openStream(
  source: AsyncIterable<Bytes>,
  dataKeyOf: (made: KeyVersion, wrapped: string) => Promise<Bytes>,
  context = '',
): AsyncGenerator<Bytes, void, void> {
  const pieces = source[Symbol.asyncIterator]()
  const { wrapped, rest } = await readHeader(pieces)
  const cipher = await chunkCipher(await dataKeyOf(versionOf(wrapped, 'dk1'), wrapped), context)
  yield* inOrder(chunksOf(resumed(rest, pieces), sealedChunkBytes), cipher.open)
}

async function readHeader(pieces: AsyncIterator<Bytes>): Promise<{ wrapped: string; rest: Bytes }> {
  let start: Bytes = new Uint8Array(0)
  for (;;) {
    const end = start.indexOf(10)
    if (end > headerMaxBytes || (end < 0 && start.length > headerMaxBytes)) break
    if (end >= 0) {
      const [first, wrapped = '', ...more] = new TextDecoder().decode(start.subarray(0, end)).split(' ')
      if (first !== magic || more.length > 0) break
      return { wrapped, rest: start.subarray(end + 1) }
    }
    const { done, value } = await pieces.next()
    if (done) break
    start = start.length === 0 ? value : joined([start, value])
  }
  throw new CryptoError('malformed_blob', 'the stream was not encrypted with a managed key')
}

async function* resumed(first: Bytes, pieces: AsyncIterator<Bytes>): AsyncGenerator<Bytes, void, void> {
  if (first.length > 0) yield first
  for (;;) {
    const { done, value } = await pieces.next()
    if (done) return
    yield value
  }
}

interface Chunk {
  bytes: Bytes
  at: number
  isLast: boolean
}

/** Splits a stream into chunks of one size; the last may be shorter. An empty stream is one empty chunk. */
async function* chunksOf(source: AsyncIterable<Bytes>, size: number): AsyncGenerator<Chunk, void, void> {
  let waiting: Bytes[] = []
  let length = 0
  let at = 0
  for await (const piece of source) {
    let rest = piece
    while (rest.length > 0) {
      // A full chunk is passed on only when more bytes follow. Otherwise it is the last chunk.
      if (length === size) {
        yield { bytes: joined(waiting), at: at++, isLast: false }
        waiting = []
        length = 0
      }
      const part = rest.subarray(0, size - length)
      waiting.push(part)
      length += part.length
      rest = rest.subarray(part.length)
    }
  }
  yield { bytes: joined(waiting), at, isLast: true }
}

async function* inOrder(
  chunks: AsyncIterable<Chunk>,
  work: (chunk: Chunk) => Promise<Bytes>,
): AsyncGenerator<Bytes, void, void> {
  const started: Promise<Bytes>[] = []
  for await (const chunk of chunks) {
    const one = work(chunk)
    // The promise is awaited later, in order. Until then its failure must not count as unhandled.
    one.catch(() => {})
    started.push(one)
    if (started.length >= ahead) yield await (started.shift() as Promise<Bytes>)
  }
  for (const one of started) yield await one
}

async function chunkCipher(dataKey: Bytes, context: string) {
  const key = await importAesKey(await hkdf(dataKey, new Uint8Array(0), streamLabel, 32))
  const algorithm = ({ at, isLast }: Chunk) => ({
    name: 'AES-GCM',
    iv: nonceOf(at, isLast),
    additionalData: encodeUtf8(context),
  })
  return {
    seal: async (chunk: Chunk): Promise<Bytes> =>
      new Uint8Array(await crypto.subtle.encrypt(algorithm(chunk), key, chunk.bytes)),
    open: async (chunk: Chunk): Promise<Bytes> => {
      const { bytes, at } = chunk
      // Each stream has one valid form: an empty chunk is allowed only if it is the whole stream.
      const least = at === 0 ? tagLengthBytes : tagLengthBytes + 1
      if (bytes.length < least) throw new CryptoError('decryption_failed', 'the end of the stream is missing')
      try {
        return new Uint8Array(await crypto.subtle.decrypt(algorithm(chunk), key, bytes))
      } catch {
        throw new CryptoError('decryption_failed')
      }
    },
  }
}

/** Builds the nonce: 11 bytes with the chunk's number, and one byte that says whether it is the last. */
function nonceOf(at: number, isLast: boolean): Bytes {
  const nonce = new Uint8Array(ivLengthBytes)
  new DataView(nonce.buffer).setBigUint64(3, BigInt(at))
  nonce[ivLengthBytes - 1] = isLast ? 1 : 0
  return nonce
}

function joined(parts: Bytes[]): Bytes {
  if (parts.length === 1) return parts[0] as Bytes
  const all = new Uint8Array(parts.reduce((sum, { length }) => sum + length, 0))
  let at = 0
  for (const part of parts) {
    all.set(part, at)
    at += part.length
  }
  return all
}
