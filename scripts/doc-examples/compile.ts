import { readFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import ts from 'typescript'
import { exportOf, importOf, namesIn } from './declared.ts'
import type { Example } from './find.ts'

const root = join(import.meta.dirname, '../..')

/** Declares names that examples of doc comments use. */
const namesFile = join(import.meta.dirname, 'names.ts')

/** A file that only the compiler sees. `starts` has the line, counted from 1, at which each of its examples begins. */
interface Virtual {
  text: string
  starts: { line: number; example: Example }[]
}

/**
 * Type-checks examples against the sources of the workspace, and returns a line for each error, with its place.
 *
 * - An example of a page is a module, and sees what the examples above it on the page declare.
 * - An example of a doc comment sees what its file declares and imports, and the names of `names.ts`.
 *
 * @example problemsOf(fencesIn('docs/vault.md', page)) // ["docs/vault.md:70: Cannot find name 'vualt'."]
 */
export function problemsOf(examples: readonly Example[]): string[] {
  const byPath = Object.groupBy(examples, ({ path }) => path)
  const files = new Map(
    Object.entries(byPath).flatMap(([path, all = []]) =>
      path.endsWith('.md') ? modulesOfPage(all) : [sourceWithExamples(path, all)],
    ),
  )
  const program = programOf(files)
  return [...files].flatMap(([path, { starts }]) => {
    const file = program.getSourceFile(path)
    if (!file) throw new Error(`${path} was not compiled`)
    const diagnostics = [...program.getSyntacticDiagnostics(file), ...program.getSemanticDiagnostics(file)]
    return diagnostics.map(({ start = 0, messageText }) => {
      const line = file.getLineAndCharacterOfPosition(start).line + 1
      return `${placeOf(line, starts)}: ${ts.flattenDiagnosticMessageText(messageText, ' ')}`
    })
  })
}

function placeOf(line: number, starts: Virtual['starts']): string {
  const start = starts.findLast((one) => one.line <= line)
  // The error is in the code around the examples. `npm run typecheck` names its line.
  if (!start) return starts[0]?.example.path ?? ''
  return `${start.example.path}:${start.example.line + line - start.line}`
}

/** Each example imports what the examples above it declare, unless it declares that name itself. */
function modulesOfPage(examples: readonly Example[]): [path: string, Virtual][] {
  const above = new Map<string, string>()
  return examples.map((example) => {
    const { path, line, language, text } = example
    const file = join(root, `${path}.${line}.${language}`)
    const own = namesIn(text)
    const imports = [...above].filter(([name]) => !own.all.has(name)).map(([name, from]) => importOf([name], from))
    for (const name of own.declared) above.set(name, `./${basename(file)}`)
    const module = `${imports.join(' ')}${text}\n${exportOf(own)}`
    return [file, { text: module, starts: [{ line: 1, example }] }]
  })
}

/** The source with its examples at the end, each in a function, so that no two share a name. */
function sourceWithExamples(path: string, examples: readonly Example[]): [path: string, Virtual] {
  const file = join(root, path)
  const source = readFileSync(file, 'utf8')
  const own = namesIn(source)
  const given = [...namesIn(readFileSync(namesFile, 'utf8')).exported].filter((name) => !own.all.has(name))
  const lines = [...source.split('\n'), importOf(given, namesFile)]
  const starts = examples.map((example) => {
    const line = lines.push(';(async () => {') + 1
    lines.push(...example.text.split('\n'), '})')
    return { line, example }
  })
  return [file, { text: lines.join('\n'), starts }]
}

function programOf(files: ReadonlyMap<string, Virtual>): ts.Program {
  const { config } = ts.readConfigFile(join(root, 'tsconfig.json'), ts.sys.readFile)
  const { options } = ts.parseJsonConfigFileContent({ ...config, include: [], files: [] }, ts.sys, root)
  const host = ts.createCompilerHost(options)
  const { fileExists, readFile, getSourceFile } = host
  host.fileExists = (path) => files.has(path) || fileExists(path)
  host.readFile = (path) => files.get(path)?.text ?? readFile(path)
  host.getSourceFile = (path, version, ...rest) => {
    const virtual = files.get(path)
    return virtual ? ts.createSourceFile(path, virtual.text, version) : getSourceFile(path, version, ...rest)
  }
  return ts.createProgram([...files.keys()], options, host)
}
