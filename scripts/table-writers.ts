import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import ts from 'typescript'

// Finds the statements in a source file that change a table. The SQL of the server is in string literals and templates,
// so the file is parsed and comments are ignored.

/** A statement that changes a table. `table` is `${...}` if code inserts the name, and empty if the text ends there. */
export interface Write {
  table: string
  line: number
}

const name = String.raw`"?([a-z_][a-z0-9_]*|\$\{[^}]*\}|$)"?`
const qualified = String.raw`\s+(?:only\s+)?(?:"?public"?\.)?${name}`
const statements = [
  new RegExp(String.raw`\b(?:insert\s+into|delete\s+from|merge\s+into|truncate(?:\s+table)?)\b${qualified}`, 'gi'),
  // `for update` locks and `do update set` belongs to its insert: neither names a table before `set`.
  new RegExp(String.raw`\bupdate\b${qualified}(?:\s+(?:as\s+)?[a-z_]\w*)?\s+set\b`, 'gi'),
]
/** `truncate a, b` names more tables. */
const moreNames = /^(?:\s*,\s*(?:only\s+)?"?[a-z_]\w*"?)+/i

const tablesIn = (sql: string): string[] =>
  statements.flatMap((statement) =>
    [...sql.matchAll(statement)].flatMap((match) => {
      const first = match[1] ?? ''
      if (!/^truncate/i.test(match[0])) return [first]
      const more = sql.slice(match.index + match[0].length).match(moreNames)?.[0] ?? ''
      return [first, ...more.split(',').flatMap((part) => part.match(/[a-z_]\w*(?="?\s*$)/i) ?? [])]
    }),
  )

/** The text of a literal, with `${...}` for each expression in it. */
function textOf(node: ts.Node): string | undefined {
  if (ts.isStringLiteral(node) || ts.isNoSubstitutionTemplateLiteral(node)) return node.text
  if (!ts.isTemplateExpression(node)) return undefined
  return node.head.text + node.templateSpans.map((span) => `\${...}${span.literal.text}`).join('')
}

/** The statements of a source that change a table, also inside `with (...)`. */
export function writesIn(source: string): Write[] {
  const file = ts.createSourceFile('source.ts', source, ts.ScriptTarget.Latest, true)
  const found: Write[] = []
  const visit = (node: ts.Node): void => {
    const text = textOf(node)
    if (text !== undefined) {
      const line = file.getLineAndCharacterOfPosition(node.getStart(file)).line + 1
      found.push(...tablesIn(text).map((table) => ({ table: table.toLowerCase(), line })))
    }
    ts.forEachChild(node, visit)
  }
  visit(file)
  return found
}

export const server = join(import.meta.dirname, '../packages/server/src')

/** Every source file of the server: its path from `src`, and its text. */
export const readServerSources = (): Map<string, string> =>
  new Map(
    globSync('**/*.{ts,js}', { cwd: server })
      .filter((file) => !file.endsWith('.test.ts'))
      .map((file) => [file, readFileSync(join(server, file), 'utf8')]),
  )

/** Files whose statements get the table name from code: the tables, or the reason why the file is no second writer. */
export const namedByCode: Record<string, string[] | string> = {
  'model/environments/owners.ts': ['applications', 'groups'],
  'features/export/restore-store.ts': 'puts the rows of an archive into an organization that is empty',
  'keys/rekey.ts': 'seals the same values again under a new server key',
  'keys/unopened.ts': 'deletes rows whose server key was lost or leaked, for the operator',
}

/** `features/grants/store.ts` -> `features/grants`, `db/migrate.ts` -> `db`, `model/grants/write.ts` -> `model/grants`. */
const folderOf = (file: string): string => file.match(/^(?:features|model)\/[^/]+|^[^/]+/)?.[0] ?? file

function tablesOf(file: string, table: string): string[] {
  if (table !== '' && table !== '${...}') return [table]
  const named = namedByCode[file]
  if (named === undefined)
    throw new Error(`${file}: the SQL does not name its table; name it, or add the file to namedByCode`)
  return typeof named === 'string' ? [] : named
}

/** Table -> folders that write it, in alphabetical order. */
export function writersIn(sources: ReadonlyMap<string, string>): Map<string, string[]> {
  const writers = new Map<string, Set<string>>()
  for (const [file, source] of sources)
    for (const table of writesIn(source).flatMap((write) => tablesOf(file, write.table)))
      writers.set(table, (writers.get(table) ?? new Set()).add(folderOf(file)))
  return new Map([...writers].sort().map(([table, folders]) => [table, [...folders].sort()]))
}
