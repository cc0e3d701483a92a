import { readFileSync, readSync } from 'node:fs'
import { usage } from './failure.ts'
import { unreadable } from './files.ts'
import { isTerminal } from './output.ts'
import { askHidden, canAsk } from './prompt.ts'

/** Said wherever something secret was put on the command line. The text itself is not repeated. */
export const whyNotArguments =
  'secret values are not taken from the command line, where other users and the shell’s history can see them'

/** A secret value for a name: from a file, from stdin, or from a hidden question; exactly as it is. */
export async function readValue(name: string, options: { file?: string }): Promise<string> {
  if (options.file !== undefined) return readTextFile(options.file)
  if (!isTerminal.stdin()) return readStdin()
  if (!canAsk()) throw usage(`no value for ${name}`, 'pipe it in, or use --file')
  return askHidden(`Value of ${name} (is not shown)`)
}

/** A credential: from stdin or from a hidden question. A line's end, which `echo` and editors add, is not part of it. */
export async function readCredential(what: string): Promise<string> {
  const text = isTerminal.stdin() ? await askHidden(`${what} (is not shown)`) : readStdin()
  const credential = text.trim()
  if (credential === '') throw usage(`no ${what.toLowerCase()} was given`, 'pipe it in, or type it when asked')
  return credential
}

/** `-` is stdin. */
export function readTextFile(path: string): string {
  if (path === '-') return readStdin()
  let bytes: Buffer
  try {
    bytes = readFileSync(path)
  } catch (error) {
    throw unreadable(path, error)
  }
  return decode(bytes, path)
}

/** All of standard input, exactly as it is. */
export function readStdin(): string {
  const chunks: Buffer[] = []
  const chunk = Buffer.alloc(65_536)
  for (;;) {
    try {
      const length = readSync(0, chunk)
      if (length === 0) break
      chunks.push(Buffer.from(chunk.subarray(0, length)))
    } catch (error) {
      // A pipe that its writer made non-blocking has nothing yet: wait for more.
      if ((error as NodeJS.ErrnoException).code !== 'EAGAIN') throw unreadable('stdin', error)
      Atomics.wait(pause, 0, 0, 5)
    }
  }
  return decode(Buffer.concat(chunks), 'stdin')
}

const pause = new Int32Array(new SharedArrayBuffer(4))

/** Bytes that are no UTF-8 would come back changed, so they are refused. A byte order mark is kept for the caller. */
function decode(bytes: Buffer, from: string): string {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes)
  } catch {
    throw usage(`${from} is not UTF-8 text`, 'encode binary values first, for example with base64')
  }
}
