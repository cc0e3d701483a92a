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
