import { formatDotenv } from '@skerry/sdk/internal/dotenv-format'
import { readJson } from '@skerry/sdk/internal/json-values'
import { Failure, usage } from './failure.ts'
import type { ExportFormat, Formatted, Values } from './formats/names.ts'
import { headers } from './formats/read.ts'

interface FormatSettings {
  /** The values are stored texts with references, not the values that a program gets. */
  isStored?: boolean
  /** The name of a Kubernetes Secret. */
  name?: string
  /** Says how to leave out names that the format cannot hold, for commands that have an option for it. */
  hintWithout?: (names: string[]) => string
}

/**
 * Formats values as a text that reads back as exactly these values. It refuses values that the format cannot hold, by
 * name.
 */
export function formatValues(values: Values, format: ExportFormat, settings: FormatSettings = {}): Formatted {
  if (format === 'dotenv') {
    const { impossible, ...formatted } = formatDotenv(values, settings.isStored === true)
    if (impossible.length > 0) throw cannotHold(format, impossible, settings)
    return formatted
  }
  const entries = [...values]
  const unfit = refused[format]
  const impossible = entries.filter(([, value]) => unfit?.test(value)).map(([name]) => name)
  const header = headers[format] === undefined ? '' : `${headers[format]}\n`
  if (impossible.length > 0) throw cannotHold(format, impossible, settings)
  return { text: `${header}${writers[format](entries, settings)}`, remarks: [] }
}

function cannotHold(format: ExportFormat, names: string[], { hintWithout }: FormatSettings): Failure {
  const without = hintWithout === undefined ? '' : `, or ${hintWithout(names)}`
  return new Failure(
    'failure',
    `the ${format} format cannot contain the value of ${names.join(', ')}`,
    `use --format json${without}`,
  )
}

/** Finds the format by the end of the file's name; dotenv if it is unknown. */
export function formatOf(path: string): ExportFormat {
  if (path.endsWith('.json')) return 'json'
  return /\.ya?ml$/.test(path) ? 'yaml' : 'dotenv'
}

type Entry = [name: string, value: string]

/**
 * Docker reads lines and knows no quotes. It reads no line of 64 KiB, and drops a carriage return at the end of a line.
 */
const refused: Partial<Record<ExportFormat, RegExp>> = { docker: /\n|\r$|^.{65000}/ }

const writers: Record<Exclude<ExportFormat, 'dotenv'>, (entries: Entry[], settings: FormatSettings) => string> = {
  json: (entries) => `${JSON.stringify(Object.fromEntries(entries), null, 2)}\n`,
  shell: (entries) => lines(entries, (name, value) => `export ${name}=${shellText(value)}`),
  // Names are in quotes too, because NO and ON are booleans in YAML 1.1.
  yaml: (entries) => (entries.length === 0 ? '{}\n' : lines(entries, (name, value) => `"${name}": ${yamlText(value)}`)),
  docker: (entries) => lines(entries, (name, value) => `${name}=${value}`),
  k8s: (entries, { name = 'skerry' }) => {
    const data = lines(entries, (key, value) => `  "${key}": ${Buffer.from(value).toString('base64') || '""'}`)
    const head = `apiVersion: v1\nkind: Secret\nmetadata:\n  name: ${name}\ntype: Opaque\n`
    return `${head}data:${entries.length === 0 ? ' {}\n' : `\n${data}`}`
  },
  systemd: (entries) => lines(entries, (name, value) => `${name}="${value.replace(/["\\$`]/g, '\\$&')}"`),
  'github-actions': (entries) =>
    lines(entries, (name, value) => {
      const end = delimiterFor(value)
      return `${name}<<${end}\n${value}\n${end}`
    }),
}

const lines = (entries: Entry[], line: (name: string, value: string) => string) =>
  entries.map(([name, value]) => `${line(name, value)}\n`).join('')

/**
 * Quotes a text for a POSIX shell, which changes no character in single quotes. Only a single quote and NUL cannot be
 * in them.
 */
export const shellText = (value: string) => `'${value.replaceAll("'", `'\\''`)}'`

/** JSON strings are YAML strings, except for a few characters that YAML wants escaped. */
export const yamlText = (value: string) =>
  JSON.stringify(value).replace(
    /[\u007f-\u009f\u2028\u2029\ufeff\ufffe\uffff]/g,
    (one) => `\\u${one.charCodeAt(0).toString(16).padStart(4, '0')}`,
  )

/** A delimiter that the value does not contain. */
function delimiterFor(value: string): string {
  let end = 'SKERRY_EOF'
  while (value.includes(end)) end += '_'
  return end
}

/** Reads a JSON object of names and text values. The first line that cannot be read is an error. */
export function readJsonValues(text: string, from: string): Values {
  const { values, problems } = readJson(text)
  const [first] = problems
  if (first) throw usage(`${from}, line ${first.line}: ${first.message}`)
  return values
}
