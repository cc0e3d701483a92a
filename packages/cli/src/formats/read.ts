import { usage } from '../failure.ts'
import { isSecretName } from '../names.ts'
import type { ExportFormat, Values } from './names.ts'

/** First lines of formats that would otherwise look like a `.env` file. Other programs read these lines as comments. */
export const headers: Partial<Record<ExportFormat, string>> = {
  docker: '# skerry: docker env file',
  systemd: '# skerry: systemd environment file',
}

/** Finds the format of a file by its content, else by its name. */
export function formatOfFile(path: string, text: string): ExportFormat {
  const start = text.replace(/^\ufeff/, '').trimStart()
  for (const [format, header] of Object.entries(headers)) if (start.startsWith(header)) return format as ExportFormat
  if (/^apiVersion:/m.test(start) && /^kind:/m.test(start)) return 'k8s'
  if (path.endsWith('.json') || start.startsWith('{')) return 'json'
  if (/\.ya?ml$/.test(path) || /^"[A-Za-z_]\w*": "|^---\s|^%YAML /.test(start)) return 'yaml'
  if (/^[A-Za-z_]\w*<<\S+$/m.test(start.split('\n', 1)[0] ?? '')) return 'github-actions'
  return path.endsWith('.sh') || isShell(start) ? 'shell' : 'dotenv'
}

/** Formats whose readers expand no reference: `${NAME}` in them is text. */
export const isLiteral = (format: ExportFormat): boolean => Object.hasOwn(lineReaders, format) || format === 'k8s'

/** Reads the values of a text in one of these formats. A line that cannot be read is an error, and nothing is imported. */
export function readFormat(
  format: Exclude<ExportFormat, 'dotenv' | 'json' | 'yaml'>,
  text: string,
  from: string,
): Values {
  const source = text.replace(/^\ufeff/, '')
  const values: Values = new Map()
  for (const [name, value] of format === 'k8s' ? kubernetes(source, from) : lineReaders[format](source, from)) {
    if (!isSecretName(name))
      throw usage(`${from}: the name of entry ${values.size + 1} is not valid for an environment variable`)
    values.set(name, value)
  }
  return values
}

type Entry = [name: string, value: string]

/** The grammar of a format: a sticky pattern that matches one entry, and a function that takes the value from the match. */
interface Grammar {
  noun: string
  entry: RegExp
  textOf: (match: RegExpExecArray) => string
}

const shellGrammar: Grammar = {
  noun: 'shell',
  entry: /export ([\w.-]+)=((?:'[^']*'|\\'|[\w./:@%+,=-])*)[ \t]*(?:;?[ \t]*(?:\r?\n|$))/y,
  textOf: ([, , text]) => text!.replace(/'([^']*)'|\\(')/g, (_, quoted, escaped) => quoted ?? escaped),
}

const lineReaders = {
  shell: (text: string, from: string) => readEntries(shellGrammar, text, from),
  docker: (text: string, from: string) =>
    readEntries(
      { noun: 'Docker', entry: /([\w.-]+)=([^\n]*?)\r?(?:\n|$)/y, textOf: ([, , value]) => value! },
      text,
      from,
    ),
  systemd: (text: string, from: string) =>
    readEntries(
      {
        noun: 'systemd',
        entry: /([\w.-]+)="((?:[^"\\]|\\["\\$`])*)"[ \t]*(?:\n|$)/y,
        textOf: ([, , value]) => value!.replace(/\\(.)/g, '$1'),
      },
      text,
      from,
    ),
  'github-actions': (text: string, from: string) =>
    readEntries(
      {
        noun: 'GitHub Actions',
        entry: /([\w.-]+)<<(\S+)\n(?:\2|([\s\S]*?)\n\2)(?:\n|$)/y,
        textOf: ([, , , value]) => value ?? '',
      },
      text,
      from,
    ),
}

/** Reads consecutive entries. Empty lines and comments between them are skipped. */
function readEntries({ noun, entry, textOf }: Grammar, text: string, from: string): Entry[] {
  const entries: Entry[] = []
  const blank = /(?:[ \t]*(?:#[^\n]*)?\r?\n)|[ \t]*(?:#[^\n]*)?$/y
  let at = 0
  while (at < text.length) {
    blank.lastIndex = at
    entry.lastIndex = at
    const match = entry.exec(text)
    if (match) {
      entries.push([match[1]!, textOf(match)])
      at = entry.lastIndex
    } else if (blank.test(text)) at = blank.lastIndex
    else throw notUnderstood(noun, text, at, from)
  }
  return entries
}

function notUnderstood(noun: string, text: string, at: number, from: string) {
  const line = text.slice(0, at).split('\n').length
  return usage(
    `${from}, line ${line}: the line is not in the ${noun} format, so nothing was imported`,
    'fix the line, or name another format with --format',
  )
}

const isShell = (text: string): boolean => {
  if (!/^export /m.test(text)) return false
  try {
    return readEntries(shellGrammar, text, '').length > 0
  } catch {
    return false
  }
}

/** Reads the base64 values in `data` of one Secret. */
function kubernetes(text: string, from: string): Entry[] {
  if (!/^kind: *Secret *$/m.test(text)) throw cannotReadKubernetes(from, 'it is not a single Secret')
  if (/^---/m.test(text.replace(/^---\r?\n/, ''))) throw cannotReadKubernetes(from, 'it contains several objects')
  const [, empty, block] = /^data:(?:( *\{\} *)|[ \t]*\r?\n((?: {2}.*(?:\r?\n|$))+))/m.exec(text) ?? []
  if (empty === undefined && block === undefined) throw cannotReadKubernetes(from, 'it has no data')
  if (/^stringData:/m.test(text)) throw cannotReadKubernetes(from, 'it has stringData')
  return (block ?? '').split(/\r?\n/).flatMap((line) => {
    if (line.trim() === '') return []
    const [, name, base64] = /^ +"?([\w.-]+)"?: *"?([A-Za-z0-9+/]*={0,2})"? *$/.exec(line) ?? []
    if (name === undefined || base64 === undefined) throw cannotReadKubernetes(from, 'an entry is not base64')
    return [[name, decode(base64, name, from)] as Entry]
  })
}

function decode(base64: string, name: string, from: string): string {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(Buffer.from(base64, 'base64'))
  } catch {
    throw cannotReadKubernetes(from, `${name} is not UTF-8 text`)
  }
}

const cannotReadKubernetes = (from: string, why: string) =>
  usage(`${from} is not a Kubernetes Secret that can be imported: ${why}`, 'convert it to a .env or JSON file')
