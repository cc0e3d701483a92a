import { readFileSync, readSync } from 'node:fs'
import { usage } from './failure.ts'
import { unreadable } from './files.ts'
import { isTerminal } from './output.ts'
import { askHidden, canAsk } from './prompt.ts'

/** The reason in the error about a secret on the command line. The error does not repeat the secret. */
export const whyNotArguments =
  'a secret value cannot be an argument, because other users and the shell’s history can see it'

/**
 * Reads a secret value from a file, from stdin or from a hidden prompt, without changes.
 *
 * @param options `question` replaces the words of the prompt: `Value of API_KEY`.
 */
export async function readValue(name: string, options: { file?: string; question?: string }): Promise<string> {
  if (options.file !== undefined) return readTextFile(options.file)
  if (!isTerminal.stdin()) return readStdin()
  if (!canAsk()) throw usage(`there is no value for ${name}`, 'pipe it in, or use --file')
  return askHidden(`${options.question ?? `Value of ${name}`} (hidden)`)
}

/** Reads a credential from stdin or a hidden prompt. The line end that `echo` and editors add is removed. */
export async function readCredential(what: string): Promise<string> {
  const text = isTerminal.stdin() ? await askHidden(`${what} (hidden)`) : readStdin()
  const credential = text.trim()
  if (credential === '') throw usage(`no ${what.toLowerCase()} was given`, 'pipe it in, or type it when asked')
  return credential
}

/** Reads a text file; `-` is stdin. */
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

/** Reads all of standard input, without changes. */
export function readStdin(): string {
  const chunks: Buffer[] = []
  const chunk = Buffer.alloc(65_536)
  for (;;) {
    try {
      const length = readSync(0, chunk)
      if (length === 0) break
      chunks.push(Buffer.from(chunk.subarray(0, length)))
    } catch (error) {
      // The writer has made the pipe non-blocking, and it is empty: wait for more.
      if ((error as NodeJS.ErrnoException).code !== 'EAGAIN') throw unreadable('stdin', error)
      Atomics.wait(pause, 0, 0, 5)
    }
  }
  return decode(Buffer.concat(chunks), 'stdin')
}

const pause = new Int32Array(new SharedArrayBuffer(4))

/** Refuses bytes that are not UTF-8, because they would come back changed. A byte order mark is kept for the caller. */
function decode(bytes: Buffer, from: string): string {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes)
  } catch {
    throw usage(`${from} is not UTF-8 text`, 'encode binary values first, for example with base64')
  }
}
