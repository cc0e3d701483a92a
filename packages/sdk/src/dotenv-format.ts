import { referencesIn } from '@skerry/crypto/references'
import { readDotenv } from './dotenv.ts'

// The programs that read `.env` files agree on few spellings. `packages/cli/test/readers.test.ts` compares the files
// written here with the values that these programs read. The command line and the dashboard write the same files.
const readers = ['dotenv', 'Node', 'python-dotenv', 'Docker Compose', 'a POSIX shell'] as const
type Reader = (typeof readers)[number]

type Values = ReadonlyMap<string, string>

/** A `.env` file. Remarks and `impossible` name secrets, never values. */
interface FormattedDotenv {
  text: string
  /** The programs that would read other values. */
  remarks: string[]
  /** The names whose value no spelling can hold. They are not in the text. */
  impossible: string[]
}

interface Spelling {
  text: string
  /** The programs that read the value back from this spelling. */
  readBy: readonly Reader[]
}

/**
 * Formats values as a `.env` file. Each value gets the spelling that most programs read back. The dotenv package and
 * `skerry secrets import` always read it back; a remark names the programs that do not.
 *
 * @param isStored the values are stored texts, whose references an import must read as references.
 */
export function formatDotenv(values: Values, isStored: boolean): FormattedDotenv {
  const chosen = [...values].map(([name, value]) => ({
    name,
    value,
    spelling: lineFor('A=1\n', [], name, value, 'B=2\n', isStored),
  }))
  const whole = chosen.map(({ name, spelling }) => `${name}=${spelling?.text}\n`).join('')
  if (chosen.every(({ spelling }) => spelling) && holds(whole, values, isStored))
    return { text: whole, remarks: remarksOn(chosen, isStored), impossible: [] }
  return oneBehindAnother(values, isStored)
}

/** Tries each line after the lines before it, because an ambiguous quote in one line can reach into the next. */
function oneBehindAnother(values: Values, isStored: boolean): FormattedDotenv {
  const before = new Map<string, string>()
  const chosen: Chosen[] = []
  const impossible: string[] = []
  let text = ''
  for (const [name, value] of values) {
    const spelling = lineFor(text, before, name, value, '', isStored)
    if (spelling === undefined) impossible.push(name)
    else {
      before.set(name, value)
      text += `${name}=${spelling.text}\n`
      chosen.push({ name, value, spelling })
    }
  }
  return { text, remarks: remarksOn(chosen, isStored), impossible }
}

interface Chosen {
  name: string
  value: string
  spelling: Spelling | undefined
}

function remarksOn(chosen: Chosen[], isStored: boolean): string[] {
  const isTemplate = ({ value }: Chosen) => isStored && referencesIn(value).length > 0
  const templates = chosen.filter(isTemplate).map(({ name }) => name)
  const texts = chosen.filter((one) => !isTemplate(one))
  const missing = ({ spelling }: Chosen) => readers.filter((one) => !spelling?.readBy.includes(one)).join(', ')
  const remarks = [...Map.groupBy(texts, missing)]
    .filter(([others]) => others !== '')
    .map(([others, some]) => `${others} would read other values for ${some.map(({ name }) => name).join(', ')}`)
  if (templates.length === 0) return remarks
  return [...remarks, `these values contain references, which some programs do not expand: ${templates.join(', ')}`]
}

/** Finds the spelling that most programs read, and that reads back correctly between the text before and after it. */
function lineFor(
  before: string,
  known: Iterable<[string, string]>,
  name: string,
  value: string,
  after: string,
  isStored: boolean,
) {
  const expected: [string, string][] = [...known, [name, value]]
  return spellings(value)
    .map((one) => (nodeReads(one.text) === value ? one : without(one, 'Node')))
    .sort((a, b) => b.readBy.length - a.readBy.length)
    .find(({ text }) => holds(`${before}${name}=${text}\n${after}`, expected, isStored))
}

function spellings(value: string): Spelling[] {
  const has = (pattern: RegExp) => pattern.test(value)
  const all: Spelling[] = []
  if (has(/^[A-Za-z0-9_./:@%+,=-]+$/)) all.push({ text: value, readBy: readers })
  // Written without quotes, because a backslash before the closing quote would escape it.
  if (has(/^[^\s'"`#][^#\r\n]*\\$/)) all.push({ text: value, readBy: bareReaders(value) })
  const single: Spelling = { text: `'${value}'`, readBy: singleReaders(value) }
  const double: Spelling = { text: `"${value}"`, readBy: doubleReaders(value) }
  all.push(...(value.includes('\n') ? [double, single] : [single, double]))
  all.push({ text: `\`${value}\``, readBy: ['dotenv', 'Node'] })
  const escaped = value.replaceAll('\r', '\\r').replaceAll('\n', '\\n')
  all.push({
    text: `"${escaped}"`,
    readBy: has(/[\\$"]/) ? ['dotenv'] : ['dotenv', 'Node', 'python-dotenv', 'Docker Compose'],
  })
  return all
}

/** python-dotenv expands this in all quotes. */
const pythonReference = /\$\{[^}]*\}/

/**
 * Single quotes keep every character, except that python-dotenv reads `\\` and `${NAME}`. A quote in them confuses most
 * programs.
 */
function singleReaders(value: string): readonly Reader[] {
  if (value.includes("'") || value.endsWith('\\')) return ['dotenv', 'Node']
  return readers.filter((one) => one !== 'python-dotenv' || !(value.includes('\\\\') || pythonReference.test(value)))
}

/** In double quotes, some programs give a meaning to a backslash, a dollar sign or a backtick. */
function doubleReaders(value: string): readonly Reader[] {
  if (value.includes('"')) return ['dotenv', 'Node']
  return readers.filter((one) => {
    if (one === 'python-dotenv') return !value.includes('\\') && !pythonReference.test(value)
    if (one === 'Docker Compose') return !/[\\$]/.test(value)
    return one !== 'a POSIX shell' || !/[\\$`]/.test(value)
  })
}

const bareReaders = (value: string): Reader[] =>
  /^[A-Za-z0-9_./:@%+,=-]+\\$/.test(value) ? ['dotenv', 'Node', 'python-dotenv'] : ['dotenv', 'Node']

/**
 * Reads the text with the reader of `secrets import`, which has the grammar of the dotenv package. That package cannot
 * read one name: it writes into an ordinary object.
 */
function holds(text: string, values: Iterable<[string, string]>, isStored: boolean): boolean {
  const file = readDotenv(text)
  if (file.problems.length > 0 || file.warnings.length > 0) return false
  return [...values].every(([name, value]) => {
    if (file.values.get(name) !== value || name === '__proto__') return false
    const stored = file.stored.get(name)!
    return isStored ? stored === value : referencesIn(stored).length === 0
  })
}

const without = (spelling: Spelling, reader: Reader): Spelling => ({
  ...spelling,
  readBy: spelling.readBy.filter((one) => one !== reader),
})

/**
 * Returns the value that Node's `--env-file` reads from a spelling. Node drops carriage returns, ends a quoted value at the
 * next quote, and expands `\n` in double quotes alone.
 */
function nodeReads(spelling: string): string {
  const text = spelling.replaceAll('\r', '')
  const quote = text[0]
  if (quote !== "'" && quote !== '"' && quote !== '`') return text
  const value = text.slice(1, text.indexOf(quote, 1))
  return quote === '"' ? value.replaceAll('\\n', '\n') : value
}
