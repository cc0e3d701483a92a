import { writeSync } from 'node:fs'
import { isatty } from 'node:tty'
import { styleText } from 'node:util'
import { cannotWrite } from './files.ts'

// Data goes to stdout and messages for a person go to stderr, so that a pipe carries data alone. This module writes to
// the descriptors directly. Opening Node's streams costs start-up time and can leave a pipe in non-blocking mode, which
// the program that `skerry run` becomes would inherit.
//
// All printing goes through this module, because names, notes and error texts come from a server or from another
// person. It escapes control characters and invisible characters in every text. Only values are written as they are.

const stdout = 1
const stderr = 2

export const isTerminal = {
  stdin: () => isatty(0),
  stdout: () => isatty(stdout),
  stderr: () => isatty(stderr),
}

/** Shown in place of a value. Its fixed length hides the length of the value. */
export const maskedValue = '********'

/**
 * Pipes and files get the values. A terminal gets them only with `--reveal`, because someone may look over a shoulder.
 */
export function showsValues(options: { reveal?: boolean }, stdoutIsTerminal = isTerminal.stdout()): boolean {
  return options.reveal === true || !stdoutIsTerminal
}

/** Writes a value, byte for byte. */
export function writeData(text: string): void {
  writeAll(stdout, text)
}

/** Writes the bytes of a file or a message unchanged. */
export function writeBytes(bytes: Uint8Array): void {
  writeAll(stdout, bytes)
}

export function writeLine(text: string): void {
  writeAll(stdout, `${printable(text)}\n`)
}

/** Writes one line that begins with a coloured word. */
export function writeMarked(style: Style, mark: string, text: string): void {
  writeAll(stdout, `${paint(style, mark, isTerminal.stdout())}  ${printable(text)}\n`)
}

/** Writes one JSON document. Its escapes are valid JSON, so a program that parses it gets the original characters. */
export function writeJson(value: unknown): void {
  writeAll(stdout, `${lines(JSON.stringify(value, null, 2))}\n`)
}

/** The output of a command. The frame writes `json` with --json and `text` without, and then calls `after`. */
export interface Output {
  /** A function if the document costs another request. */
  json: object | (() => Promise<object>)
  /** Writes the output for people. Without `text`, the notes that the command wrote are its whole output. */
  text?: () => void | Promise<void>
  after?: () => void | Promise<void>
}

export async function writeOutput(output: Output | undefined, { json }: { json?: boolean }): Promise<void> {
  if (!output) return
  if (json) writeJson(typeof output.json === 'function' ? await output.json() : output.json)
  else await output.text?.()
  await output.after?.()
}

/** Writes a message of one line for the person at the keyboard. */
export function note(text: string): void {
  writeAll(stderr, `${printable(text)}\n`)
}

export function warn(text: string): void {
  writeAll(stderr, `${paint('yellow', 'warning:', isTerminal.stderr())} ${printable(text)}\n`)
}

/** Writes the reason why a command failed. */
export function writeFailure(text: string): void {
  writeAll(stderr, `${paint('red', 'skerry:', isTerminal.stderr())} ${printable(text)}\n`)
}

/** Writes a text of several lines. */
export function writeStderr(text: string): void {
  writeAll(stderr, lines(text))
}

/** Replaces the line that it wrote last. It shows progress while somebody waits at a terminal. */
export function writeOver(text: string): void {
  writeAll(stderr, `\r\u001b[K${printable(text)}`)
}

export function formatTable(header: string[], rows: string[][]): string {
  const cells = [header.map((title) => title.toUpperCase()), ...rows.map((row) => row.map(printable))]
  const widths = header.map((_, column) => Math.max(...cells.map((row) => (row[column] ?? '').length)))
  const line = (row: string[]) => row.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join('  ')
  return `${cells.map((row) => line(row).trimEnd()).join('\n')}\n`
}

/** @param whenEmpty what to do next, for a list without rows. */
export function writeTable(header: string[], rows: string[][], whenEmpty?: string): void {
  writeAll(stdout, formatTable(header, rows))
  if (rows.length === 0 && whenEmpty !== undefined) note(whenEmpty)
}

/**
 * Control characters, line and paragraph separators, and format characters. Joiners are excluded, because words need
 * them.
 */
const unseen = /[[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]--[\u200c\u200d]]/gv

/** Replaces each unsafe character with its JSON escape, for example `\u001b`. */
export function printable(text: string): string {
  return text.replace(unseen, (character) => {
    const units = Array.from({ length: character.length }, (_, at) => character.charCodeAt(at))
    return units.map((unit) => `\\u${unit.toString(16).padStart(4, '0')}`).join('')
  })
}

const lines = (text: string) => text.split('\n').map(printable).join('\n')

type Style = 'red' | 'green' | 'yellow' | 'bold'

/** Colours a text that is written to a terminal, unless NO_COLOR is set or the terminal is dumb. */
function paint(style: Style, text: string, toTerminal: boolean): string {
  const plain = process.env.NO_COLOR || process.env.TERM === 'dumb' || !toTerminal
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
      // Another process on the same pipe may have made it non-blocking: wait until it accepts data.
      if (code === 'EAGAIN') Atomics.wait(pause, 0, 0, 2)
      // The reader of the pipe has ended (`skerry secrets ls | head -1`), which is no failure.
      else if (code === 'EPIPE' || code === 'EBADF') process.exit(0)
      // Nobody can be told of it.
      else if (descriptor === stderr) return
      else throw cannotWrite('stdout', error)
    }
  }
}
