import { secretNamePattern } from '@skerry/contract/patterns'
import { escapeReferences } from '@skerry/crypto/references'
import { lineCounter } from './line-counter.ts'

/** A remark about a line, counted from 1. The remark never contains the line's text, which may be a value. */
export interface LineRemark {
  line: number
  message: string
}

/** The content of a `.env` file, with remarks for its author. */
export interface DotenvFile {
  /** The values that the dotenv package reads, with the same names and in the same order as `stored`. */
  values: Map<string, string>
  /**
   * The values to store, so that a program gets what the file means. A value in single quotes is literal in every
   * dialect, so text in it that looks like a reference is escaped. Elsewhere `${NAME}` is a reference.
   */
  stored: Map<string, string>
  /** Lines that mean nothing, or something else than they seem to. The file must be refused. */
  problems: LineRemark[]
  /** Lines that are read, though perhaps not as their author meant. */
  warnings: LineRemark[]
  /** Lines that another reader of such files interprets differently: a shell, Docker Compose, dotenv with expansion. */
  differences: LineRemark[]
}

interface ReadSettings {
  /** Reads `my.name` and `my-name` as `my_name`, instead of refusing them. */
  rename?: boolean
}

/**
 * The grammar of the dotenv package, with which most programs read such files. The package itself returns values alone,
 * silently skips lines that it does not understand, and runs in Node only.
 */
const entryPattern =
  /^\s*(?:export\s+)?([\w.-]+)(?:\s*=\s*?|:\s+?)(\s*'(?:\\'|[^'])*'|\s*"(?:\\"|[^"])*"|\s*`(?:\\`|[^`])*`|[^#\r\n]+)?(\s*)(#.*)?$/gm

/** The contract's pattern, compiled here so that a starting command does not load all schemas. */
const secretName = new RegExp(secretNamePattern)

/**
 * Reads the values of a `.env` file, and names every line that its author should check. Accepts any text: errors are in
 * `problems`.
 *
 * @example readDotenv('A=1\nnonsense\n') // values: A -> '1'; problems: [{ line: 2, message: 'is not NAME=value ...' }]
 */
export function readDotenv(text: string, { rename = false }: ReadSettings = {}): DotenvFile {
  const source = text.replace(/^\ufeff/, '').replace(/\r\n?/g, '\n')
  const file: DotenvFile = { values: new Map(), stored: new Map(), problems: [], warnings: [], differences: [] }
  const lineOf = lineCounter(source)
  const firstSeen = new Map<string, number>()
  let end = 0
  for (const match of source.matchAll(entryPattern)) {
    noteUnread(source, end, match.index, lineOf, file.problems)
    end = match.index + match[0].length
    const name = rename ? renamed(match[1]!) : match[1]!
    const line = lineOf(match.index + match[0].search(/\S/))
    noteEntry(name, match, line, file)
    const earlier = firstSeen.get(name)
    if (earlier !== undefined) {
      file.warnings.push({ line, message: `${name} is also on line ${earlier}; the value on this line is used` })
    } else firstSeen.set(name, line)
    const value = readValue(match[2] ?? '')
    file.values.set(name, value)
    file.stored.set(name, isLiteral(match[2]) ? escapeReferences(value) : value)
  }
  noteUnread(source, end, source.length, lineOf, file.problems)
  return file
}

/** Turns `my.name` and `my-name` into names of environment variables. */
export const renamed = (name: string): string => name.replace(/[.-]/g, '_')

/** Reads the text after `NAME=`, without its quotes. In double quotes, `\n` and `\r` are line breaks. */
function readValue(raw: string): string {
  const value = raw.trim()
  const unquoted = value.replace(/^(['"`])([\s\S]*)\1$/gm, '$2')
  return value.startsWith('"') ? unquoted.replace(/\\n/g, '\n').replace(/\\r/g, '\r') : unquoted
}

const isLiteral = (raw = '') => /^\s*'/.test(raw)

function noteEntry(name: string, match: RegExpExecArray, line: number, file: DotenvFile): void {
  const [, , raw = '', blank = '', comment = ''] = match
  if (!secretName.test(name)) {
    file.problems.push({ line, message: 'the name is not valid: use letters, digits and _, not starting with a digit' })
  }
  for (const message of isLiteral(raw) ? [] : differencesIn(raw, name)) file.differences.push({ line, message })
  const value = raw.trim()
  const quote = value[0]
  const quoted = quote === "'" || quote === '"' || quote === '`'
  if (quoted && (value.length < 2 || value.at(-1) !== quote)) {
    file.problems.push({ line, message: 'the closing quote is missing' })
  } else if (!quoted && comment !== '' && blank === '' && /\S$/.test(raw)) {
    file.warnings.push({
      line,
      message: `the value of ${name} ends at the #, which starts a comment: ${keptOf(value)} kept; quote the value to keep the #`,
    })
  }
}

/** Says how much of a value is kept, without the value. */
const keptOf = ({ length }: string) =>
  length === 1 ? 'only its first character is' : `only its first ${length} characters are`

/** Text that stays as it is written, although its author may have expected otherwise, with the reason. */
const unlikeOthers: readonly { pattern: RegExp; message: string }[] = [
  { pattern: /(?<![\\$])\$[A-Za-z_]/, message: '$NAME is not replaced: write a reference as ${NAME}' },
  { pattern: /\$\{[A-Za-z_]\w*[:?+-]/, message: '${NAME:-text} is not replaced: a reference cannot have a default' },
  { pattern: /\$\(/, message: '$(...) is not replaced: Skerry runs no command' },
  { pattern: /\\\$/, message: '\\$ keeps its backslash; to write a plain $, put the value in single quotes' },
  {
    pattern: /^\s*"[\s\S]*\\["\\]/,
    message: '\\" and \\\\ keep their backslashes; only \\n and \\r are replaced, with line breaks',
  },
]

function differencesIn(raw: string, name: string): string[] {
  const found = unlikeOthers.filter(({ pattern }) => pattern.test(raw))
  return found.map(({ message }) => `in ${name}, ${message}`)
}

/** Reports lines between two entries that are neither empty nor comments, because they have no effect. */
function noteUnread(source: string, from: number, to: number, lineOf: (at: number) => number, out: LineRemark[]): void {
  let at = from
  for (const line of source.slice(from, to).split('\n')) {
    const text = line.trim()
    if (text !== '' && !text.startsWith('#')) {
      out.push({ line: lineOf(at), message: 'the line is neither NAME=value nor a comment' })
    }
    at += line.length + 1
  }
}
