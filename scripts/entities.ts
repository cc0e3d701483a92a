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
    'This page lists the tables of the database. `npm run generate` makes the page from the migrations and the SQL ' +
      'statements of the server. A row that belongs to an organization has the id of this organization in the column ' +
      '`org_id`. A foreign key between two of these rows includes `org_id`, so a row cannot refer to a row of ' +
      'another organization.',
    '## The tables that several features share',
    'The diagram shows the tables that several features change. The SQL statements that write these tables are in ' +
      '`packages/server/src/model/`. If such a table has a foreign key to another table, the diagram also shows the ' +
      'other table. Each line stands for a foreign key between two tables. The fork of the line is at the table that ' +
      'has the foreign key. From `organizations`, the diagram shows only the lines to `applications`, `groups` and ' +
      '`memberships`.',
    pictureOf(listNouns(tables, writers)),
    '## All tables',
    'The column "Written by" names the folder of `packages/server/src` with the code that writes the table. Each ' +
      'table has one such folder, except `audit_entries`, which has several, and `principals`, which has none. The ' +
      'column leaves out three functions that can write many tables. The restore of an organization inserts the rows ' +
      'of an archive (`features/export/restore-store.ts`). The replacement of the server key encrypts stored values ' +
      'again with the new key (`keys/rekey.ts`). If the server key was lost or leaked, a command for operators ' +
      'deletes the rows that were encrypted with this key (`keys/unopened.ts`).',
    'Triggers of the database insert the rows of `principals`, `cache_invalidations`, `sync_changes` and `sync_endings`.',
    'The column "Refers to" names the tables to which the table has foreign keys. Many foreign keys delete a row ' +
      'together with the row to which it refers. For example, if an environment is deleted, the database also ' +
      'deletes the rows of this environment in `key_grants`. Many tables have a foreign key to `organizations`. The ' +
      'column shows this foreign key only for `applications`, `groups` and `memberships`.',
    markdownTable({ columns: ['Table', 'Written by', 'Refers to'], rows }),
  ]
  return `${blocks.join('\n\n')}\n`
}
