import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { openApiDocument } from '../packages/contract/src/docs/openapi.ts'
import { listEndpoints } from '../packages/contract/src/endpoints.ts'
import { settings } from '../packages/server/src/settings.ts'
import { commandsMarkdown } from './commands-page.ts'
import { entitiesMarkdown } from './entities.ts'
import { withErrorTables } from './errors-page.ts'
import { markdownTable } from './markdown-table.ts'
import { drawDiagram } from './pictures/diagram.ts'
import { diagrams } from './pictures/diagrams.ts'
import { sdkMarkdown } from './sdk-page.ts'
import { suitesTable } from './suites-table.ts'
import { withSyncTables } from './sync-table.ts'

export const root = join(import.meta.dirname, '..')

const syncPage = 'docs/sync-destinations.md'
const errorsPage = 'docs/troubleshooting.md'
const suitesPage = 'docs/suites.md'

/** Every generated file: its path from the root, and its text, which is made from tables in the source. */
export async function generatedFiles(): Promise<Record<string, string>> {
  return {
    'docs/openapi.json': `${JSON.stringify(openApiDocument(), null, 2)}\n`,
    'docs/commands.md': await commandsMarkdown(),
    'docs/entities.md': await entitiesMarkdown(),
    'docs/settings.md': settingsMarkdown(),
    'docs/sdk-reference.md': sdkMarkdown(),
    ...pictures(),
    [suitesPage]: withSuitesTable(await readFile(join(root, suitesPage), 'utf8')),
    [errorsPage]: withErrorTables(await readFile(join(root, errorsPage), 'utf8')),
    [syncPage]: await withSyncTables(await readFile(join(root, syncPage), 'utf8')),
    'packages/contract/src/operations.gen.ts': operationsTable(),
  }
}

/** Diagrams of documents, from their tables. */
function pictures(): Record<string, string> {
  const drawn = Object.entries(diagrams).map(([name, diagram]) => [`docs/images/${name}.svg`, drawDiagram(diagram)])
  return Object.fromEntries(drawn)
}

/** Replaces the table between its marks. The text around it stays. */
function withSuitesTable(page: string): string {
  const marks = /(<!-- The table of suites .*-->)[\s\S]*(<!-- End of the table. -->)/
  if (!marks.test(page)) throw new Error(`${suitesPage}: the marks of the table are missing`)
  return page.replace(marks, (_, begin, end) => `${begin}\n\n${suitesTable()}\n\n${end}`)
}

/** Method and path of every endpoint, without its schemas, which clients do not need at run time. */
function operationsTable(): string {
  const rows = Object.entries(Object.groupBy(listEndpoints(), ({ heading }) => heading)).map(([heading, all = []]) => {
    const lines = all.map(({ name, endpoint: { method, path, surface } }) => {
      return `    ${name}: { method: '${method}', path: '${path}', surface: '${surface}' },`
    })
    return [`  ${heading}: {`, ...lines, '  },'].join('\n')
  })
  return `// Generated from endpoints.ts by \`npm run generate\`. Loads no schemas, so clients start with it.
import type { Operation } from './endpoint.ts'

/** Heading and name -> what a client needs to call the endpoint. */
export const operations = {
${rows.join('\n')}
} as const satisfies Record<string, Record<string, Operation>>
`
}

function settingsMarkdown(): string {
  const rows = Object.entries(settings).map(([name, { fallback, help }]) => [
    `\`${name}\``,
    fallbackCell(fallback),
    help,
  ])
  const blocks = [
    '# Settings',
    'The settings of a server are the environment variables of this table. An empty variable counts as unset. ' +
      'The server does not start if a variable begins with `SKERRY_` but is not a setting of the server or of the command `skerry`. ' +
      '`npm run generate` makes this page.',
    markdownTable({ columns: ['Variable', 'Default', 'Meaning'], rows }),
  ]
  return `${blocks.join('\n\n')}\n`
}

/** A default as it is written in the environment: lists with commas, tables as JSON. An empty cell stands for unset. */
function fallbackCell(fallback: unknown): string {
  const isTable = typeof fallback === 'object' && fallback !== null && !Array.isArray(fallback)
  const text = isTable ? JSON.stringify(fallback) : String(fallback ?? '')
  return text === '' ? '' : `\`${text}\``
}

async function main(): Promise<void> {
  for (const [path, text] of Object.entries(await generatedFiles())) {
    const file = join(root, path)
    await mkdir(dirname(file), { recursive: true })
    await writeFile(file, text)
    console.log(path)
  }
}

if (import.meta.main) await main()
