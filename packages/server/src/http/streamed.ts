import { Readable, type Writable } from 'node:stream'

/** An answer that is produced while it is sent. */
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

  /** True if all data produced so far has been passed to the operating system. */
  get isSent(): boolean {
    return this.body.readableLength === 0 && this.to?.writableLength === 0
  }
}

/** A client that reads nothing for 45 s is treated as gone, so that its database connection is freed. */
const stalledMs = 45_000

/**
 * Produces the first piece at once: until then an error is answered like any other. A later failure cuts the answer
 * off. However the answer ends, the `finally` block of the generator runs.
 *
 * The answer owns the pieces. It frees the memory of each sent piece before it takes the next one. The pieces survive
 * pauses of their source, so the garbage collector would treat them as old objects and let 64 MB of them pile up.
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

/** Small buffers share their memory with others, and are not freed here. */
function free(piece: Buffer): void {
  const { buffer } = piece
  if (buffer instanceof ArrayBuffer && buffer.byteLength === piece.byteLength) buffer.transfer(0)
}
