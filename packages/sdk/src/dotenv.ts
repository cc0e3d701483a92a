import { secretNamePattern } from '@skerry/contract/patterns'
import { escapeReferences } from '@skerry/crypto/references'
import { lineCounter } from './line-counter.ts'

/**
 * A remark about one line of a `.env` file. The first line has the number 1. The message never contains the text of the
 * line, because it may be a secret.
 */
export interface LineRemark {
  line: number
  message: string
}

/** The content of a `.env` file, with remarks for its author. */
export interface DotenvFile {
  /** The values as the npm package dotenv reads them. The names and their order are the same as in `stored`. */
  values: Map<string, string>
  /**
   * The values to store in Skerry. In a value in single quotes, the text `${NAME}` is not a reference, so `stored` has
   * it escaped. In every other value, `${NAME}` stays a reference.
   */
  stored: Map<string, string>
  /**
   * Lines that cannot be read, or that do not mean what they seem to mean. If there is such a line, do not use the
   * file.
   */
  problems: LineRemark[]
  /** Lines that can be read, but whose value may differ from the value that the author meant. */
  warnings: LineRemark[]
  /** Lines that other programs read differently: a shell, Docker Compose, or dotenv with expansion. */
  differences: LineRemark[]
}

interface ReadSettings {
  /**
   * If true, the function reads the names `my.name` and `my-name` as `my_name`. If false, it lists them in `problems`.
   * Default: false.
   */
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
 * Reads the text of a `.env` file, and lists every line that the author of the file should check. The function throws
 * no error, so look at `problems` before you use the values.
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

/** Changes a name such as `my.name` or `my-name` to a valid name of an environment variable, here `my_name`. */
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
