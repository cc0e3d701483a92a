import { type Operation, type Reference, reference, type Section } from '@skerry/contract/docs/reference-model'
import type { Table } from '@skerry/contract/docs/reference-tables'
import { routes } from '../../../server/src/app.ts'
import { accessRules } from '../../../server/src/features/docs/access-rules.ts'

/** The reference of the API as documents: one for each heading of the OpenAPI document, and an overview. */
export function apiDocuments(): Record<string, string> {
  const model = reference(accessRules(routes))
  const sections = model.sections.map((section) => [pathOf(section), sectionMarkdown(section)])
  return { 'docs/api/README.md': overview(model), ...Object.fromEntries(sections) }
}

const pathOf = ({ anchor }: Section) => `docs/api/${anchor}.md`

function overview({ version, conventions, sections, tables }: Reference): string {
  const rows = sections.map((section) => [
    `[${section.title}](${section.anchor}.md)`,
    section.operations.map(({ id }) => `[\`${nameOf(id)}\`](${section.anchor}.md#${anchorOf(id)})`).join(' '),
  ])
  return [
    '# HTTP API',
    `These pages describe version ${version} of the API. They are generated from the [OpenAPI document](../openapi.json). Every server also sends this document at \`/openapi.json\`. The [glossary](../glossary.md) explains words such as grant, reader and layer.`,
    conventions.map((line) => `- ${line}`).join('\n'),
    '## Operations',
    table(['Heading', 'Operations'], rows),
    ...tables.map(tableMarkdown),
  ].join('\n\n')
}

const nameOf = (id: string) => id.slice(id.indexOf('.') + 1)

const anchorOf = (id: string) => id.toLowerCase().replaceAll('.', '')

function sectionMarkdown({ title, operations }: Section): string {
  const links = operations.map(({ id }) => `[\`${id}\`](#${anchorOf(id)})`)
  const about = `This page describes ${links.length === 1 ? 'the operation' : 'the operations'} ${links.join(', ')}. The [glossary](../glossary.md) explains words such as grant, reader and layer.`
  return [`# API: ${title}`, about, ...operations.map(operationMarkdown)].join('\n\n')
}

function operationMarkdown({ id, method, path, summary, access, audit, fields, answers, refusals }: Operation): string {
  const refuses = refusals.flatMap(([status, codes]) => codes.map((code) => `${status} \`${code}\``))
  const facts = [
    ['Access', access],
    ['Audit log', audit],
    ['Errors', refuses.join(', ')],
  ].filter(([, value]) => value !== '')
  const rows = fields.map(({ name, required, in: place, type, note }) => [
    `\`${name}\`${required ? '' : ' (optional)'}`,
    place,
    type,
    note,
  ])
  return [
    `## ${id}`,
    `\`${method} ${path}\``,
    `${summary}.`,
    facts.map(([name, value]) => `- ${name}: ${value}`).join('\n'),
    ...(rows.length > 0 ? [table(['Field', 'Place', 'Type', 'Meaning'], rows)] : []),
    ...answers.flatMap(({ statuses, example }) => [
      `The answer has status ${statuses}:`,
      `\`\`\`json\n${example}\n\`\`\``,
    ]),
  ].join('\n\n')
}

const tableMarkdown = ({ title, about, columns, rows }: Table) =>
  [`## ${title}`, about, table(columns, rows)].join('\n\n')

function table(columns: string[], rows: string[][]): string {
  const line = (cells: string[]) => `| ${cells.map((cell) => cell.replaceAll('|', '\\|')).join(' | ')} |`
  return [line(columns), `|${columns.map(() => '---').join('|')}|`, ...rows.map(line)].join('\n')
}
