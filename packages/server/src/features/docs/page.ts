import type { Operation, Reference, Section } from '@skerry/contract/docs/reference-model'
import type { Table } from '@skerry/contract/docs/reference-tables'

const entities: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&#39;' }

const escaped = (text: string) => text.replace(/[&<>"']/g, (character) => entities[character] as string)

/** Renders text in which backquotes mark code. */
const inline = (text: string) => escaped(text).replace(/`([^`]+)`/g, '<code>$1</code>')

/** The reference as one page, which loads only its stylesheet and runs nothing. */
export function referencePage({ version, conventions, sections, tables }: Reference): string {
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>Skerry HTTP API</title>
<link rel="stylesheet" href="docs.css">
</head>
<body>
<a class="skip" href="#content">Skip to content</a>
<nav aria-label="Contents">${contents(sections, tables)}</nav>
<main id="content">
<header>
<h1>Skerry HTTP API</h1>
<p>Version ${escaped(version)} · <a href="openapi.json">openapi.json</a></p>
</header>
<ul class="conventions">${conventions.map((line) => `<li>${inline(line)}</li>`).join('')}</ul>
${sections.map(sectionHtml).join('\n')}
${tables.map(tableSection).join('\n')}
</main>
</body>
</html>
`
}

function contents(sections: Section[], tables: Table[]): string {
  const link = (anchor: string, text: string) => `<a href="#${escaped(anchor)}">${text}</a>`
  const operations = (section: Section) =>
    section.operations.map(({ id, method }) => `<li>${link(id, `${badge(method)} ${escaped(nameOf(id))}`)}</li>`)
  const items = [
    ...sections.map((one) => `<li>${link(one.anchor, escaped(one.title))}<ul>${operations(one).join('')}</ul></li>`),
    ...tables.map(({ anchor, title }) => `<li>${link(`table-${anchor}`, escaped(title))}</li>`),
  ]
  return `<ul>${items.join('\n')}</ul>`
}

const nameOf = (id: string) => id.slice(id.indexOf('.') + 1)

const badge = (method: string) => `<span class="method ${method.toLowerCase()}">${method}</span>`

function sectionHtml({ anchor, title, operations }: Section): string {
  return `<section id="${escaped(anchor)}"><h2>${escaped(title)}</h2>
${operations.map(operationHtml).join('\n')}
</section>`
}

function operationHtml(operation: Operation): string {
  const { id, method, path, summary, access, audit, answers, refusals } = operation
  const refuses = refusals.flatMap(([status, codes]) => codes.map((code) => `${status} <code>${code}</code>`))
  const facts = [
    ['Operation', `<code>${escaped(id)}</code>`],
    ['Access', access && `<code>${escaped(access)}</code>`],
    ['Audit', inline(audit)],
    ['Refuses', refuses.map((refusal) => `<span class="refusal">${refusal}</span>`).join(' ')],
  ].filter(([, value]) => value !== '')
  return `<article id="${escaped(id)}">
<h3><a class="anchor" href="#${escaped(id)}">${badge(method)} <code class="path">${breakable(path)}</code></a></h3>
<p>${inline(summary)}.</p>
<dl>${facts.map(([name, value]) => `<div><dt>${name}</dt><dd>${value}</dd></div>`).join('')}</dl>
${fieldTable(operation)}
${answers.map(answerHtml).join('\n')}
</article>`
}

/** A path may be broken before each of its parts, so that it fits a phone. */
const breakable = (path: string) => escaped(path).replace(/(?<=.)\//g, '<wbr>/')

function answerHtml({ statuses, example }: Operation['answers'][number]): string {
  return `<details><summary>Answers ${escaped(statuses)}</summary><pre>${escaped(example)}</pre></details>`
}

function fieldTable({ fields }: Operation): string {
  if (fields.length === 0) return ''
  const rows = fields.map((field) => [
    `<code>${escaped(field.name)}</code>${field.required ? '' : ' <small>optional</small>'}`,
    field.in,
    inline(field.type),
    inline(field.note),
  ])
  return tableHtml('fields', ['Field', 'In', 'Takes', 'Note'], rows)
}

function tableSection({ anchor, title, about, columns, rows }: Table): string {
  const cells = rows.map((row) => row.map(inline))
  return `<section id="table-${escaped(anchor)}"><h2>${escaped(title)}</h2>
<p>${inline(about)}</p>
${tableHtml('facts', columns, cells)}
</section>`
}

/** `cells` is HTML already. */
function tableHtml(kind: string, columns: string[], cells: string[][]): string {
  const head = columns.map((column) => `<th scope="col">${escaped(column)}</th>`).join('')
  const body = cells.map((row) => `<tr>${row.map((cell) => `<td>${cell}</td>`).join('')}</tr>`).join('\n')
  return `<table class="${kind}"><thead><tr>${head}</tr></thead><tbody>
${body}
</tbody></table>`
}
