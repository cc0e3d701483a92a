import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { namedByCode, readServerSources, server, writersIn, writesIn } from './table-writers.ts'

// A table has one writer: the only folder whose code inserts, updates and deletes its rows. So a rule about the table
// is in one place. Triggers of migrations are not counted, because they belong to the table.

/** Tables that several folders write. The list may only shrink. */
const shared: Record<string, string[]> = {
  // Each transaction adds its entries, a group of writes adds its own in its statement, and the seal job numbers them.
  audit_entries: ['features/audit-proof', 'kernel', 'model/secrets'],
}

const sources = readServerSources()
const writers = writersIn(sources)

test('no table gets a second writer', () => {
  const several = Object.fromEntries([...writers].filter(([, folders]) => folders.length > 1))
  expect(several).toEqual(shared)
})

test('the writers of every table that the code writes are found', () => {
  const migrations = globSync('db/migrations/*.sql', { cwd: server }).map((file) =>
    readFileSync(join(server, file), 'utf8'),
  )
  const named = (statement: RegExp) =>
    migrations.flatMap((sql) => [...sql.matchAll(statement)].map(([, table]) => table!))
  const dropped = new Set(named(/^drop table (\w+)/gm))
  const tables = named(/^create table (\w+)/gm).filter((table) => !dropped.has(table))
  expect(tables.length).toBeGreaterThan(80)
  // Triggers write `changes` and `principals`. Rows reach the partition `audit_entries_rest` through its table.
  expect(tables.filter((table) => !writers.has(table)).sort()).toEqual(['audit_entries_rest', 'changes', 'principals'])
})

test('every file whose statements get their table from the code still has one', () => {
  const without = Object.keys(namedByCode).filter(
    (file) => !writesIn(sources.get(file) ?? '').some(({ table }) => table === '${...}'),
  )
  expect(without).toEqual([])
})

const written: [statement: string, source: string, tables: string[]][] = [
  ['an insert', "db.rows('insert into a (b) values ($1)')", ['a']],
  [
    'an insert that updates on conflict',
    "sql('insert into a (b) values (1) on conflict (b) do update set b = 2')",
    ['a'],
  ],
  ['an update with an alias', 'db.rows(`update a as x\n set b = 1`)', ['a']],
  ['an update of one table alone', "db.rows('update only public.a set b = 1')", ['a']],
  ['a deletion', 'db.rows(\'DELETE FROM "a" where true\')', ['a']],
  ['a merge', "db.rows('merge into a using b on true when matched then delete')", ['a']],
  ['several tables that are emptied', "db.script('truncate table a, only b cascade')", ['a', 'b']],
  [
    'writes inside of a query',
    'const q = `with gone as (delete from a returning id), put as (insert into b select id from gone) update c set d = 1`',
    ['a', 'b', 'c'],
  ],
  ['a statement in an expression of another', "`select ${all ? 'x' : `(${'delete from a'})`} from b`", ['a']],
  ['a table whose name the code inserts', 'db.rows(`delete from ${table} where true`)', ['${...}']],
  ['a table whose name is appended to the text', "db.rows('delete from ' + table)", ['']],
  ['locks', "db.rows('select 1 from a for update'); db.rows('select 1 from a for no key update skip locked')", []],
  ['comments', '// delete from a\n/* insert into b */ db.row("select 1")', []],
]

test.each(written)('the tables of %s are read from the source', (_, source, tables) => {
  expect(
    writesIn(source)
      .map(({ table }) => table)
      .sort(),
  ).toEqual(tables)
})

test('a second writer is found, and a statement that names no table is refused', () => {
  const text = "db.rows('update a set b = 1')"
  const both = new Map([
    ['features/one/store.ts', text],
    ['model/two/write.ts', text],
    ['model/two/more.ts', text],
  ])
  expect(writersIn(both)).toEqual(new Map([['a', ['features/one', 'model/two']]]))
  const unnamed = new Map([['features/one/store.ts', 'db.rows(`delete from ${table}`)']])
  expect(() => writersIn(unnamed)).toThrow('features/one/store.ts: the SQL does not name its table')
})
