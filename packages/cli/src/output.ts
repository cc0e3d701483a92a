import { writeSync } from 'node:fs'
import { isatty } from 'node:tty'
import { styleText } from 'node:util'

// Data goes to stdout and everything that is meant for a person to stderr, so that a pipe never carries a remark. Written
// to the descriptors directly: opening Node's streams costs start-up time and can leave a pipe in non-blocking mode,
// which the program that `skerry run` becomes would inherit.

const stdout = 1
const stderr = 2

export const isTerminal = {
  stdin: () => isatty(0),
  stdout: () => isatty(stdout),
  stderr: () => isatty(stderr),
}

/** Shown in place of a value. Of fixed length, so that it does not tell the value's. */
export const maskedValue = '********'

/** Values are shown to pipes and files, and on a terminal only when asked for: someone may look over a shoulder. */
export function showsValues(options: { reveal?: boolean }, stdoutIsTerminal = isTerminal.stdout()): boolean {
  return options.reveal === true || !stdoutIsTerminal
}

/** Raw data, byte for byte. */
export function writeData(text: string): void {
  writeAll(stdout, text)
}

/** Data, to the byte. */
export function writeLine(text: string): void {
  writeAll(stdout, `${text}\n`)
}

/** A line with names in it, for people. */
export function writeText(text: string): void {
  writeLine(printable(text))
}

/** One JSON document. */
export function writeJson(value: unknown): void {
  writeAll(stdout, `${JSON.stringify(value, null, 2)}\n`)
}

/** A remark for the person at the keyboard: one line. */
export function note(text: string): void {
  writeAll(stderr, `${printable(text)}\n`)
}

export function warn(text: string): void {
  writeAll(stderr, `${paint('yellow', 'warning:')} ${printable(text)}\n`)
}

export function writeStderr(text: string): void {
  writeAll(stderr, text)
}

/** Rows in columns. Cells lose their control characters, so that a stored name cannot steer a terminal. */
export function formatTable(header: string[], rows: string[][]): string {
  const cells = [header.map((title) => title.toUpperCase()), ...rows.map((row) => row.map(printable))]
  const widths = header.map((_, column) => Math.max(...cells.map((row) => (row[column] ?? '').length)))
  const line = (row: string[]) => row.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join('  ')
  return `${cells.map((row) => line(row).trimEnd()).join('\n')}\n`
}

export function writeTable(header: string[], rows: string[][]): void {
  writeAll(stdout, formatTable(header, rows))
}

// biome-ignore lint/suspicious/noControlCharactersInRegex: these are the characters that must not reach a terminal
const controlCharacters = /[\u0000-\u001f\u007f-\u009f\u2028\u2029\u202a-\u202e\u2066-\u2069]/g

export function printable(text: string): string {
  return text.replace(controlCharacters, '?')
}

/** Colour on a terminal's stderr only, and not when NO_COLOR or a dumb terminal says so. */
export function paint(style: 'red' | 'green' | 'yellow' | 'bold', text: string): string {
  const plain = process.env.NO_COLOR || process.env.TERM === 'dumb' || !isTerminal.stderr()
  return plain ? text : styleText(style, text, { validateStream: false })
}

const pause = new Int32Array(new SharedArrayBuffer(4))

function writeAll(descriptor: number, text: string): void {
  let rest: Uint8Array = Buffer.from(text, 'utf8')
  while (rest.length > 0) {
    try {
      rest = rest.subarray(writeSync(descriptor, rest))
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException
      // Whoever shares a pipe with us may have made it non-blocking: wait for room.
      if (code === 'EAGAIN') Atomics.wait(pause, 0, 0, 2)
      // The reader has gone (`skerry secrets list | head -1`): nothing is left to say, and it is no failure.
      else if (code === 'EPIPE' || code === 'EBADF') process.exit(0)
      else throw error
    }
  }
}
