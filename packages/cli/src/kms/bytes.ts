import { createReadStream } from 'node:fs'
import { open, rm } from 'node:fs/promises'
import type { Bytes } from '@skerry/crypto/base64url'
import { usage } from '../failure.ts'
import { cannotWrite, type Overwriting, putInPlace, targetOf, unreadable } from '../files.ts'
import { isTerminal, writeBytes } from '../output.ts'

/** As long as a chunk of a sealed stream, so that chunks are not copied. */
const pieceBytes = 1024 * 1024

/** The bytes of a file, or of stdin for `-` and for none. */
export async function* readPieces(path: string | undefined): AsyncGenerator<Bytes, void, void> {
  const isStdin = path === undefined || path === '-'
  if (isStdin && isTerminal.stdin()) throw usage('nothing was piped in', 'pipe the data in, or use --file')
  if (isStdin) {
    const stream = createReadStream('', { fd: 0, autoClose: false, highWaterMark: pieceBytes })
    for await (const piece of stream) yield piece as Bytes
    return
  }
  try {
    const file = await open(path)
    try {
      for (;;) {
        const piece = new Uint8Array(pieceBytes)
        const length = await fill(file, piece)
        if (length > 0) yield piece.subarray(0, length)
        if (length < pieceBytes) return
      }
    } finally {
      await file.close()
    }
  } catch (error) {
    throw (error as NodeJS.ErrnoException).syscall === undefined ? error : unreadable(path, error)
  }
}

/** Pipes give less than is asked for. */
async function fill(file: Awaited<ReturnType<typeof open>>, piece: Bytes): Promise<number> {
  let length = 0
  while (length < piece.length) {
    const { bytesRead } = await file.read(piece, length, piece.length - length, null)
    if (bytesRead === 0) break
    length += bytesRead
  }
  return length
}

/** At most so many bytes, and what follows them: whether something does tells a long message from a short one. */
export async function peek(
  pieces: AsyncGenerator<Bytes, void, void>,
  mostBytes: number,
): Promise<{ start: Bytes; isAll: boolean; all: () => AsyncGenerator<Bytes, void, void> }> {
  const first: Bytes[] = []
  let length = 0
  let isAll = false
  while (length <= mostBytes) {
    const { done, value } = await pieces.next()
    if (done) {
      isAll = true
      break
    }
    first.push(value)
    length += value.length
  }
  async function* all() {
    yield* first
    if (!isAll) yield* pieces
  }
  return { start: new Uint8Array(Buffer.concat(first)), isAll, all }
}

/**
 * Writes to stdout, or to a file that appears when it is whole: a failure halfway leaves no file behind. A file that exists
 * stays as it is unless `force` is set.
 */
export async function writePieces(
  path: string | undefined,
  pieces: AsyncIterable<Bytes> | Iterable<Bytes>,
  overwriting: Overwriting,
): Promise<void> {
  if (path === undefined || path === '-') {
    for await (const piece of pieces) writeBytes(piece)
    return
  }
  const target = targetOf(path, overwriting)
  const beside = `${target}.${crypto.randomUUID()}`
  try {
    const file = await open(beside, 'wx', 0o600)
    try {
      // Unlike `writev`, `writeFile` writes on where a full disk took only a part, and so fails.
      for await (const piece of pieces) await file.writeFile(piece)
      await file.sync()
    } finally {
      await file.close()
    }
    putInPlace(beside, target, overwriting)
  } catch (error) {
    await rm(beside, { force: true })
    throw (error as NodeJS.ErrnoException).syscall === undefined ? error : cannotWrite(path, error)
  }
}
