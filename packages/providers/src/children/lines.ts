import type { Readable } from 'node:stream'

/**
 * Passes each line of a stream to `onLine`, without its line end. A line longer than `bytesMax` is not buffered:
 * `onTooLong` is called once, and reading stops.
 */
export function readLines(
  stream: Readable,
  bytesMax: number,
  { onLine, onTooLong }: { onLine: (line: string) => void; onTooLong: () => void },
): void {
  let parts: Buffer[] = []
  let bytes = 0
  let isOver = false
  stream.on('data', (chunk: Buffer) => {
    let from = 0
    while (!isOver) {
      const end = chunk.indexOf(0x0a, from)
      const part = chunk.subarray(from, end === -1 ? undefined : end)
      bytes += part.length
      if (bytes > bytesMax) {
        isOver = true
        parts = []
        onTooLong()
        return
      }
      parts.push(part)
      if (end === -1) return
      const line = Buffer.concat(parts).toString('utf8')
      parts = []
      bytes = 0
      from = end + 1
      onLine(line)
    }
  })
}
