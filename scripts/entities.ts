import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { openEmbedded } from '../packages/server/src/db/embedded.ts'
import { migrate } from '../packages/server/src/db/migrate.ts'
import { markdownTable } from './markdown-table.ts'
import { readServerSources, writersIn } from './table-writers.ts'

// The page of all tables. It reads the catalog of a database that the migrations have made, and the SQL of the server.

interface Table {
  name: string
  /** The tables that its foreign keys name, without `organizations`. */
  refers: string[]
}

const selectTables = `
  select t.relname as name,
         coalesce(array_agg(distinct r.relname::text order by r.relname::text)
                    filter (where r.relname <> 'organizations' or t.relname in ('memberships', 'applications', 'groups')),
                  '{}') as refers
    from pg_class t
    left join pg_constraint f on f.conrelid = t.oid and f.contype = 'f'
    left join pg_class r on r.oid = f.confrelid
   where t.relnamespace = 'public'::regnamespace and t.relkind in ('r', 'p') and not t.relispartition
   group by t.relname
   order by t.relname`

async function listTables(): Promise<Table[]> {
  const directory = await mkdtemp(join(tmpdir(), 'skerry-entities-'))
  const db = await openEmbedded(directory)
  try {
    await migrate(db)
    return await db.rows<Table & Record<string, unknown>>(selectTables)
  } finally {
    await db.close()
    await rm(directory, { recursive: true })
  }
}

/** The tables of `model/` and those that they refer to: the nouns that every feature uses. */
function listNouns(tables: Table[], writers: Map<string, string[]>): Table[] {
  const isNoun = ({ name }: Table) => writers.get(name)?.some((folder) => folder.startsWith('model/')) ?? false
  const named = new Set(tables.filter(isNoun).flatMap(({ name, refers }) => [name, ...refers]))
  return tables.filter(({ name }) => named.has(name))
}

function pictureOf(nouns: Table[]): string {
  const names = new Set(nouns.map(({ name }) => name))
  const lines = nouns.flatMap(({ name, refers }) =>
    refers.filter((other) => names.has(other)).map((other) => `  ${other} ||--o{ ${name} : ""`),
  )
  return ['```mermaid', 'erDiagram', ...lines, '```'].join('\n')
}

/** The page `docs/entities.md`. */
export async function entitiesMarkdown(): Promise<string> {
  const tables = await listTables()
  const writers = writersIn(readServerSources())
  const rows = tables.map(({ name, refers }) => [
    `\`${name}\``,
    writers
      .get(name)
      ?.map((folder) => `\`${folder}\``)
      .join(', ') ?? 'a trigger',
    refers.map((other) => `\`${other}\``).join(', '),
  ])
  const blocks = [
    '# Tables',
    'This page lists the tables of the database. `npm run generate` makes this page from the migrations and the SQL of the server. ' +
      'Rows of an organization have an `org_id`, and the foreign keys of these rows compare the `org_id`, too.',
    '## The nouns',
    'The diagram has the tables that several features change (`model/`), and the tables to which they refer. A line leads from a ' +
      'table to the table whose rows belong to its rows. Most lines from `organizations` are left out.',
    pictureOf(listNouns(tables, writers)),
    '## All tables',
    'One folder of `packages/server/src` has the code that writes a table. Only `audit_entries` has several folders. The column ' +
      '"Written by" leaves out two writers that get the name of a table from code. A restore inserts the rows of an archive ' +
      '(`features/export/restore-store.ts`). A change of the server key encrypts values again (`keys/rekey.ts`).',
    'Triggers insert the rows of `principals`, `cache_invalidations`, `sync_changes` and `sync_endings`. Foreign keys delete rows ' +
      'together with the row to which they refer. For example, foreign keys delete the rows of `key_grants` with their environment or ' +
      'principal. The column "Refers to" names `organizations` only for `applications`, `groups` and `memberships`.',
    markdownTable({ columns: ['Table', 'Written by', 'Refers to'], rows }),
  ]
  return `${blocks.join('\n\n')}\n`
}
