import type { Bytes } from '@skerry/crypto/base64url'
import { isTerminal, writeOver } from '../output.ts'

const everyMs = 200
const newline = 10

/** Counts bytes and rows, and shows the counts on a terminal. */
export function startProgress() {
  const isShown = isTerminal.stderr()
  let [bytes, rows, shownAt] = [0, 0, 0]
  const show = () => {
    shownAt = performance.now()
    writeOver(`${(bytes / 1_000_000).toFixed(1)} MB, ${rows} rows`)
  }
  return {
    async *counting(pieces: AsyncIterable<Uint8Array>): AsyncGenerator<Bytes> {
      for await (const piece of pieces) {
        bytes += piece.length
        for (const byte of piece) if (byte === newline) rows++
        if (isShown && performance.now() - shownAt > everyMs) show()
        yield piece as Bytes
      }
    },
    end() {
      if (isShown && shownAt > 0) writeOver('')
      return { bytes, rows }
    },
  }
}
