import { writeSync } from 'node:fs'
import { isatty } from 'node:tty'
import { styleText } from 'node:util'

// Data goes to stdout and everything that is meant for a person to stderr, so that a pipe never carries a remark. Written
// to the descriptors directly: opening Node's streams costs start-up time and can leave a pipe in non-blocking mode,
// which the program that `skerry run` becomes would inherit.
//
// All printing goes through here, because names, notes and refusals are the words of a server, or of another person: in
// every text, characters that steer a terminal or are invisible are shown by their numbers. Only values go out as they are.

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

/** A value, byte for byte. */
export function writeData(text: string): void {
  writeAll(stdout, text)
}

/** Bytes as they are, of a file or a message. */
export function writeBytes(bytes: Uint8Array): void {
  writeAll(stdout, bytes)
}

/** One line. */
export function writeLine(text: string): void {
  writeAll(stdout, `${printable(text)}\n`)
}

/** One line behind a coloured word. */
export function writeMarked(style: Style, mark: string, text: string): void {
  writeAll(stdout, `${paint(style, mark)}  ${printable(text)}\n`)
}

/** One JSON document. Its escapes are JSON's own, so a program that parses it gets the characters. */
export function writeJson(value: unknown): void {
  writeAll(stdout, `${lines(JSON.stringify(value, null, 2))}\n`)
}

/** The output of a command. The frame writes `json` with --json and `text` without, and then calls `after`. */
export interface Output {
  /** A function if the document costs another request. */
  json: object | (() => Promise<object>)
  /** Writes the output for people. Without `text`, the notes of the command have said everything. */
  text?: () => void | Promise<void>
  after?: () => void | Promise<void>
}

export async function writeOutput(output: Output | undefined, { json }: { json?: boolean }): Promise<void> {
  if (!output) return
  if (json) writeJson(typeof output.json === 'function' ? await output.json() : output.json)
  else await output.text?.()
  await output.after?.()
}

/** A remark for the person at the keyboard: one line. */
export function note(text: string): void {
  writeAll(stderr, `${printable(text)}\n`)
}

export function warn(text: string): void {
  writeAll(stderr, `${paint('yellow', 'warning:')} ${printable(text)}\n`)
}

/** What a command failed with. */
export function writeFailure(text: string): void {
  writeAll(stderr, `${paint('red', 'skerry:')} ${printable(text)}\n`)
}

/** Text of several lines. */
export function writeStderr(text: string): void {
  writeAll(stderr, lines(text))
}

/** In place of the last line that was written so: for what changes while somebody waits at a terminal. */
export function writeOver(text: string): void {
  writeAll(stderr, `\r\u001b[K${printable(text)}`)
}

/** Rows in columns. */
export function formatTable(header: string[], rows: string[][]): string {
  const cells = [header.map((title) => title.toUpperCase()), ...rows.map((row) => row.map(printable))]
  const widths = header.map((_, column) => Math.max(...cells.map((row) => (row[column] ?? '').length)))
  const line = (row: string[]) => row.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join('  ')
  return `${cells.map((row) => line(row).trimEnd()).join('\n')}\n`
}

export function writeTable(header: string[], rows: string[][]): void {
  writeAll(stdout, formatTable(header, rows))
}

/** Controls, line and paragraph separators, and what has no width or turns the order of writing; joiners spell words. */
const unseen = /[[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]--[\u200c\u200d]]/gv

/** `\u001b` for an escape character, as JSON has it. */
export function printable(text: string): string {
  return text.replace(unseen, (character) => {
    const units = Array.from({ length: character.length }, (_, at) => character.charCodeAt(at))
    return units.map((unit) => `\\u${unit.toString(16).padStart(4, '0')}`).join('')
  })
}

const lines = (text: string) => text.split('\n').map(printable).join('\n')

type Style = 'red' | 'green' | 'yellow' | 'bold'

/** Colour on a terminal's stderr only, and not when NO_COLOR or a dumb terminal says so. */
function paint(style: Style, text: string): string {
  const plain = process.env.NO_COLOR || process.env.TERM === 'dumb' || !isTerminal.stderr()
  return plain ? text : styleText(style, text, { validateStream: false })
}

const pause = new Int32Array(new SharedArrayBuffer(4))

function writeAll(descriptor: number, data: string | Uint8Array): void {
  let rest: Uint8Array = typeof data === 'string' ? Buffer.from(data, 'utf8') : data
  while (rest.length > 0) {
    try {
      rest = rest.subarray(writeSync(descriptor, rest))
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException
      // Another process on the same pipe may have made it non-blocking: wait for room.
      if (code === 'EAGAIN') Atomics.wait(pause, 0, 0, 2)
      // The reader has gone (`skerry secrets list | head -1`): nothing is left to say, and it is no failure.
      else if (code === 'EPIPE' || code === 'EBADF') process.exit(0)
      else throw error
    }
  }
}
