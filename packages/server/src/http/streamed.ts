import { Readable, type Writable } from 'node:stream'

/** An answer that is made while it is sent. */
export class Streamed {
  readonly body: Readable
  private to: Pick<Writable, 'writableLength'> | undefined

  constructor(body: Readable) {
    this.body = body
  }

  sentTo(to: Pick<Writable, 'writableLength'>): Readable {
    this.to = to
    return this.body
  }

  /** Whether all that was made so far has been handed to the operating system. */
  get isSent(): boolean {
    return this.body.readableLength === 0 && this.to?.writableLength === 0
  }
}

/** Who takes nothing for so long is gone, and what an answer holds on to is wanted by others. */
const stalledMs = 45_000

/**
 * Makes the first piece at once: until then anything can be refused as in every other answer. Afterwards a failure cuts the
 * answer off. However it ends, the generator comes to its `finally`.
 *
 * The pieces belong to the answer, which frees the memory of each that was sent before the next comes. They live through
 * rests of their source, so the collector would count them among the old objects, and let 64 MB of them gather.
 */
export async function streamed(pieces: AsyncGenerator<Buffer>): Promise<Streamed> {
  const first = await pieces.next()
  let next: typeof first | null = first
  let stalled: NodeJS.Timeout | undefined
  let last: Buffer | undefined
  const body = new Readable({
    read() {
      clearTimeout(stalled)
      const piece = next ? Promise.resolve(next) : pieces.next()
      next = null
      piece.then(
        ({ done, value }) => {
          if (last && answer.isSent) free(last)
          last = done ? undefined : value
          if (!done) stalled = setTimeout(() => body.destroy(new Error('nobody reads the answer')), stalledMs)
          body.push(done ? null : value)
        },
        (error: Error) => body.destroy(error),
      )
    },
    destroy(error, done) {
      clearTimeout(stalled)
      pieces.return(undefined).then(
        () => done(error),
        (failure: Error) => done(error ?? failure),
      )
    },
  })
  const answer = new Streamed(body)
  return answer
}

/** Small ones share their memory with others. */
function free(piece: Buffer): void {
  const { buffer } = piece
  if (buffer instanceof ArrayBuffer && buffer.byteLength === piece.byteLength) buffer.transfer(0)
}
