import { Readable } from 'node:stream'

/** An answer that is made while it is sent. */
export class Streamed {
  readonly body: Readable

  constructor(body: Readable) {
    this.body = body
  }
}

/** Who takes nothing for so long is gone, and what an answer holds on to is wanted by others. */
const stalledMs = 45_000

/**
 * Makes the first piece at once: until then anything can be refused as in every other answer. Afterwards a failure cuts the
 * answer off. However it ends, the generator comes to its `finally`.
 */
export async function streamed(pieces: AsyncGenerator<Buffer>): Promise<Streamed> {
  const first = await pieces.next()
  let next: typeof first | null = first
  let stalled: NodeJS.Timeout | undefined
  const body = new Readable({
    read() {
      clearTimeout(stalled)
      const piece = next ? Promise.resolve(next) : pieces.next()
      next = null
      piece.then(
        ({ done, value }) => {
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
  return new Streamed(body)
}
