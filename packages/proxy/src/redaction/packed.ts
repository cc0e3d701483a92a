import { once } from 'node:events'
import { Duplex, type Readable, Writable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import type { Redactor } from '@skerry/providers/redaction/redactor'

/**
 * The most compressed bytes that wait for the search. Decoders buffer far fewer, so the search stays ahead of the bytes
 * passed on.
 */
const heldMaxBytes = 1024 * 1024

/** A secret in a compressed body, where it cannot be replaced. */
export class FoundInPackedError extends Error {
  override readonly name = 'FoundInPackedError'
  /** The name of the secret. */
  readonly secret: string

  constructor(secret: string) {
    super(`the compressed body contains the value of ${secret}`)
    this.secret = secret
  }
}

/**
 * Passes a compressed body on byte for byte, after a decompressed copy of it was searched. A body of up to 1 MiB is
 * searched completely before the first byte passes.
 *
 * @param decoders the streams that decompress the body.
 * @param begin sends the head; called once, before the first byte.
 * @throws FoundInPackedError, or the error of a decoder. The rest of the body is then not passed on.
 */
export async function passPacked(
  packed: Readable,
  decoders: Duplex[],
  redactor: Redactor,
  begin: () => Writable,
): Promise<void> {
  const held: Buffer[] = []
  let heldBytes = 0
  let out: Writable | undefined
  const release = async (most: number): Promise<void> => {
    while (heldBytes > most) {
      out ??= begin()
      const chunk = held.shift()!
      heldBytes -= chunk.length
      if (!out.write(chunk) && !out.destroyed) await drained(out)
    }
  }
  const hold = async function* (chunks: AsyncIterable<Buffer>) {
    for await (const chunk of chunks) {
      held.push(chunk)
      heldBytes += chunk.length
      yield chunk
      await release(heldMaxBytes)
    }
  }
  await pipeline([packed, Duplex.from(hold), ...decoders, searching(redactor)])
  await release(0)
  const ended = out ?? begin()
  ended.end()
}

/** Waits until more can be written, or until the reader is gone. */
async function drained(out: Writable): Promise<void> {
  const settled = new AbortController()
  const waits = ['drain', 'close'].map((event) => once(out, event, { signal: settled.signal }))
  await Promise.race(waits).finally(() => settled.abort())
}

/** Reads decompressed bytes, and fails at the first secret. */
function searching({ transform, flush, counts }: Redactor): Writable {
  const check = (): Error | null => {
    const [name] = counts.keys()
    return name === undefined ? null : new FoundInPackedError(name)
  }
  return new Writable({
    write(chunk: Buffer, _, done) {
      transform(chunk)
      done(check())
    },
    final(done) {
      flush()
      done(check())
    },
  })
}
