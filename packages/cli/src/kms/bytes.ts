import { createReadStream, rmSync } from 'node:fs'
import { open, rm } from 'node:fs/promises'
import type { Bytes } from '@skerry/crypto/base64url'
import { usage } from '../failure.ts'
import { cannotWrite, type Overwriting, putInPlace, targetOf, unreadable } from '../files.ts'
import { isTerminal, writeBytes } from '../output.ts'

/** The length of a chunk in a sealed stream, so that chunks are not copied. */
const pieceBytes = 1024 * 1024

/** Reads the bytes of a file, or of stdin if the path is `-` or undefined. */
export async function* readPieces(path: string | undefined): AsyncGenerator<Bytes, void, void> {
  const isStdin = path === undefined || path === '-'
  if (isStdin && isTerminal.stdin()) throw usage('there is no input', 'pipe the data in, or use --file')
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

/** Fills the piece with several reads, because a pipe may return fewer bytes than requested. */
async function fill(file: Awaited<ReturnType<typeof open>>, piece: Bytes): Promise<number> {
  let length = 0
  while (length < piece.length) {
    const { bytesRead } = await file.read(piece, length, piece.length - length, null)
    if (bytesRead === 0) break
    length += bytesRead
  }
  return length
}

/**
 * Reads until the end, or until it has more than `mostBytes`. `isAll` tells a short message from a long one. `all`
 * yields every byte again, from the first.
 */
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
 * Writes to stdout, or to a file that appears when it is complete. A failure halfway leaves no file. An existing file
 * is replaced only if `force` is set.
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
  const isDone = removeOnSignal(beside)
  try {
    const file = await open(beside, 'wx', 0o600)
    try {
      // Unlike `writev`, `writeFile` continues after a partial write, and so fails on a full disk.
      for await (const piece of pieces) await file.writeFile(piece)
      await file.sync()
    } finally {
      await file.close()
    }
    putInPlace(beside, target, overwriting)
  } catch (error) {
    await rm(beside, { force: true })
    throw (error as NodeJS.ErrnoException).syscall === undefined ? error : cannotWrite(path, error)
  } finally {
    isDone()
  }
}

const ending = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const

/** Removes the file if a signal ends this process. Call the returned function when the file is no longer in use. */
function removeOnSignal(path: string): () => void {
  const forget = () => {
    for (const signal of ending) process.off(signal, end)
  }
  const end = (signal: NodeJS.Signals) => {
    rmSync(path, { force: true })
    forget()
    process.kill(process.pid, signal)
  }
  for (const signal of ending) process.on(signal, end)
  return forget
}
