import { secretNamePattern } from '@skerry/contract/patterns'
/** Where in a file, counted from 1, and what is to be said about it. Never holds the line's text: it may be a value. */
export interface LineRemark {
  line: number
  message: string
}

/** What a `.env` file says, and what its author should look at. */
export interface DotenvFile {
  values: Map<string, string>
  /** Lines that mean nothing or not what they seem to: the file is to be refused. */
  problems: LineRemark[]
  /** Lines that are read, though perhaps not as their author meant. */
  warnings: LineRemark[]
}

/**
 * The grammar of the dotenv package, which most programs read such files with. The package itself gives values alone,
 * passes silently over what it does not understand, and runs in Node only.
 */
const entryPattern =
  /^\s*(?:export\s+)?([\w.-]+)(?:\s*=\s*?|:\s+?)(\s*'(?:\\'|[^'])*'|\s*"(?:\\"|[^"])*"|\s*`(?:\\`|[^`])*`|[^#\r\n]+)?(\s*)(#.*)?$/gm

/** The contract's pattern, spelled here so that a command that starts does not load all schemas. */
const secretName = new RegExp(secretNamePattern)

/**
 * Text of a `.env` file -> its values, with every line named that needs the author's eye. Reads any text: what is wrong
 * is in `problems`.
 *
 * @example readDotenv('A=1\nnonsense\n') // values: A -> '1'; problems: [{ line: 2, message: 'is not NAME=value ...' }]
 */
export function readDotenv(text: string): DotenvFile {
  const source = text.replace(/^\ufeff/, '').replace(/\r\n?/g, '\n')
  const file: DotenvFile = { values: new Map(), problems: [], warnings: [] }
  const lineOf = lineCounter(source)
  const firstSeen = new Map<string, number>()
  let end = 0
  for (const match of source.matchAll(entryPattern)) {
    noteUnread(source, end, match.index, lineOf, file.problems)
    end = match.index + match[0].length
    const name = match[1]!
    const line = lineOf(match.index + match[0].search(/\S/))
    noteEntry(match, line, file)
    const earlier = firstSeen.get(name)
    if (earlier !== undefined) {
      file.warnings.push({ line, message: `${name} stands on line ${earlier} already; this one counts` })
    } else firstSeen.set(name, line)
    file.values.set(name, readValue(match[2] ?? ''))
  }
  noteUnread(source, end, source.length, lineOf, file.problems)
  return file
}

/** What stands behind `NAME=`, without its quotes; in double quotes, `\n` and `\r` are line breaks. */
function readValue(raw: string): string {
  const value = raw.trim()
  const unquoted = value.replace(/^(['"`])([\s\S]*)\1$/gm, '$2')
  return value.startsWith('"') ? unquoted.replace(/\\n/g, '\n').replace(/\\r/g, '\r') : unquoted
}

function noteEntry(match: RegExpExecArray, line: number, file: DotenvFile): void {
  const [, name = '', raw = '', blank = '', comment = ''] = match
  if (!secretName.test(name)) {
    file.problems.push({ line, message: 'the name is not an environment variable name (letters, digits, _)' })
  }
  const value = raw.trim()
  const quote = value[0]
  const quoted = quote === "'" || quote === '"' || quote === '`'
  if (quoted && (value.length < 2 || value.at(-1) !== quote)) {
    file.problems.push({ line, message: 'a quote is opened and not closed' })
  } else if (!quoted && comment !== '' && blank === '' && /\S$/.test(raw)) {
    file.warnings.push({ line, message: `${name} ends at the #, which begins a comment; quote the value to keep it` })
  }
}

/** Lines between two entries that are neither empty nor comments are lines that nobody reads. */
function noteUnread(source: string, from: number, to: number, lineOf: (at: number) => number, out: LineRemark[]): void {
  let at = from
  for (const line of source.slice(from, to).split('\n')) {
    const text = line.trim()
    if (text !== '' && !text.startsWith('#')) {
      out.push({ line: lineOf(at), message: 'is not NAME=value and not a comment' })
    }
    at += line.length + 1
  }
}

/** Positions come in rising order, so the line ends before each are counted once. */
function lineCounter(source: string): (at: number) => number {
  let line = 1
  let counted = 0
  return (at) => {
    if (at < counted) return source.slice(0, at).split('\n').length
    for (; counted < at; counted++) if (source[counted] === '\n') line++
    return line
  }
}
