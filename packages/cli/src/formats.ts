import { parse } from 'dotenv'
import { readDotenv } from './dotenv-file.ts'
import { Failure, usage } from './failure.ts'
import { isSecretName } from './names.ts'

export const exportFormats = ['dotenv', 'json', 'shell'] as const
export type ExportFormat = (typeof exportFormats)[number]

export type Values = Map<string, string>

/** Values -> text that reads back as exactly these values, or a refusal that names what the format cannot hold. */
export function formatValues(values: Values, format: ExportFormat): string {
  if (format === 'json') return `${JSON.stringify(Object.fromEntries(values), null, 2)}\n`
  if (format === 'shell') return [...values].map(([name, value]) => `export ${name}=${quoteForShell(value)}\n`).join('')
  return formatDotenv(values)
}

/** In single quotes a POSIX shell takes everything as it is, except a single quote itself and NUL. */
function quoteForShell(value: string): string {
  return `'${value.replaceAll("'", `'\\''`)}'`
}

/**
 * The dotenv grammar has no general escape: which quotes hold a value depends on what is in it. So each spelling is
 * read back by the parser that will read the file, and the first that holds is taken.
 */
function formatDotenv(values: Values): string {
  const lines = [...values].map(([name, value]) => lineFor('A=1\n', [], name, value, 'B=2\n'))
  const whole = lines.join('')
  if (lines.every((line) => line !== undefined) && holds(whole, values)) return whole
  // A quote that one line leaves ambiguous can reach into the next: try each line behind those before it.
  const before: Values = new Map()
  const impossible: string[] = []
  let text = ''
  for (const [name, value] of values) {
    const line = lineFor(text, before, name, value, '')
    if (line === undefined) impossible.push(name)
    else {
      before.set(name, value)
      text += line
    }
  }
  if (impossible.length === 0) return text
  throw new Failure('failure', `the dotenv format cannot hold ${impossible.join(', ')}`, 'use --format json')
}

/** The line for a value, in the first spelling that reads back right between the text before and after it. */
function lineFor(before: string, known: Iterable<[string, string]>, name: string, value: string, after: string) {
  const expected: [string, string][] = [...known, [name, value]]
  return spellings(value)
    .map((spelling) => `${name}=${spelling}\n`)
    .find((line) => holds(before + line + after, expected))
}

function spellings(value: string): string[] {
  const escaped = value.replaceAll('\r', '\\r').replaceAll('\n', '\\n')
  const plain = /^[A-Za-z0-9_./:@%+,=-]+$/.test(value) ? [value] : []
  // In quotes, a backslash at the end would be taken for an escaped quote.
  const bare = value.endsWith('\\') && /^[^\s'"`#][^#\r\n]*$/.test(value) ? [value] : []
  const lone = value.includes('\n') ? [`"${value}"`, `'${value}'`] : [`'${value}'`, `"${value}"`]
  return [...plain, ...bare, ...lone, `\`${value}\``, `"${escaped}"`]
}

/** Read with our own reader too, so that what is exported is also what `secrets import` takes without a remark. */
function holds(text: string, values: Iterable<[string, string]>): boolean {
  const file = readDotenv(text)
  const parsed = parse(text)
  if (file.problems.length > 0 || file.warnings.length > 0) return false
  return [...values].every(([name, value]) => file.values.get(name) === value && parsed[name] === value)
}

/** A JSON object of texts. Numbers and booleans are refused rather than guessed at: `1.0` and `1` would be one. */
export function readJsonValues(text: string, from: string): Values {
  let parsed: unknown
  try {
    parsed = JSON.parse(text.replace(/^\ufeff/, ''))
  } catch {
    throw usage(`${from} is not JSON`)
  }
  if (typeof parsed !== 'object' || parsed === null || Array.isArray(parsed)) {
    throw usage(`${from} is not a JSON object of names and texts`)
  }
  const values: Values = new Map()
  for (const [name, value] of Object.entries(parsed)) {
    if (!isSecretName(name)) throw usage(`${from}: entry ${values.size + 1} has no environment variable name`)
    if (typeof value !== 'string') throw usage(`${from}: ${name} is not a text`, 'put the value in quotes')
    values.set(name, value)
  }
  return values
}
