import { type AccessFacts, type Operation, reference } from './reference-model.ts'
import type { Table } from './reference-tables.ts'

/**
 * The reference of the whole API in Markdown: a section for each heading, and the tables that hold for all of them.
 *
 * @example referenceMarkdown().split('\n')[0] // '# The HTTP API'
 */
export function referenceMarkdown(access?: AccessFacts): string {
  const { version, conventions, sections, tables } = reference(access)
  const blocks = [
    '# The HTTP API',
    `Version ${version}. Generated from the endpoint table by \`npm run generate\`; the same as a machine reads it: ` +
      '[openapi.json](openapi.json). A running server shows it under `/docs`.',
    conventions.map((line) => `- ${line}`).join('\n'),
    [...sections, ...tables].map(({ title }) => `[${title}](#${slugOf(title)})`).join(' · '),
    ...sections.flatMap(({ title, operations }) => [`## ${title}`, ...operations.flatMap(operationBlocks)]),
    ...tables.flatMap((table) => [`## ${table.title}`, table.about, markdownTable(table)]),
  ]
  return `${blocks.join('\n\n')}\n`
}

/** As the common renderers of Markdown name headings. */
const slugOf = (title: string) => title.toLowerCase().replaceAll(' ', '-')

function operationBlocks(operation: Operation): string[] {
  const { id, method, path, summary, access, audit, answers, refusals } = operation
  const facts = [
    ...(access ? [`- Access: \`${access}\``] : []),
    ...(audit ? [`- Audit: ${audit}`] : []),
    `- Refuses: ${refusals.map(([status, codes]) => `${status} ${codes.map((code) => `\`${code}\``).join(' ')}`).join(', ')}`,
  ]
  return [
    `### \`${method} ${path}\``,
    `${summary}. (\`${id}\`)`,
    facts.join('\n'),
    ...fieldTable(operation),
    ...answers.flatMap(({ statuses, example }) => [`Answers ${statuses}:`, `\`\`\`json\n${example}\n\`\`\``]),
  ]
}

function fieldTable({ fields }: Operation): string[] {
  if (fields.length === 0) return []
  const rows = fields.map((field) => {
    const name = field.required ? `\`${field.name}\`` : `\`${field.name}\` (optional)`
    return [name, field.in, field.type, field.note]
  })
  return [markdownTable({ columns: ['Field', 'In', 'Takes', 'Note'], rows })]
}

/**
 * A table in Markdown, with the bars in its cells escaped.
 *
 * @example markdownTable({ columns: ['A'], rows: [['1|2']] }) // '| A |\n|---|\n| 1\\|2 |'
 */
export function markdownTable({ columns, rows }: Pick<Table, 'columns' | 'rows'>): string {
  const line = (cells: string[]) => `| ${cells.map((cell) => cell.replaceAll('|', '\\|')).join(' | ')} |`
  return [line(columns), `|${columns.map(() => '---').join('|')}|`, ...rows.map(line)].join('\n')
}
