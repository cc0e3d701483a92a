import { globSync, readFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { type SyncTag, syncProviders } from '@skerry/contract/sync/providers'
import { syncVendors } from '@skerry/contract/vendors'
import { describe, expect, it } from 'vitest'

// docs/contributing/sync-destination.md lists the files and rows of a destination. The test counts them in the tree for
// every tag, so that the page and the tree agree.

const root = join(import.meta.dirname, '../../../..')
const tags = Object.keys(syncProviders) as SyncTag[]

/** File -> `new`, `made`, or the number of rows: `1 row`. */
type Takes = Record<string, string>

const testsPage = 'docs/contributing/sync-tests.md'
/** The text of a section of a page. */
const sectionOf = (page: string, heading: string) =>
  readFileSync(join(root, page), 'utf8').split(`\n## ${heading}`)[1]?.split('\n## ')[0] ?? ''

const section = sectionOf('docs/contributing/sync-destination.md', 'Files and rows')
const listed: Takes = Object.fromEntries(
  [...section.matchAll(/^\| `([^`]+)` \| ([^|]+) \|/gm)].map(([, file = '', takes = '']) => [file, takes]),
)

const sources = globSync(
  ['*.md', 'docs/**/*.{md,json}', '{bench,scripts}/**/*.ts', '{packages,examples}/*/**/*.{ts,tsx,sql,json,md}'],
  { cwd: root, exclude: (path) => ['node_modules', 'dist'].includes(basename(path)) },
).map((file) => ({ file, text: readFileSync(join(root, file), 'utf8') }))

/** One row of a kind is enough, in any of these files. */
const oneOfKind = (file: string) =>
  file
    .replace(/contract\/src\/sync\/(hosts|clouds)\.ts$/, 'contract/src/sync/platforms.ts')
    .replace(/sync\/samples-clouds\.ts$/, 'sync/samples-platforms.ts')

/** Tag -> the name of the adapter's file, which is the vendor's slug. The registry contains both. */
const fileNames = new Map(
  [
    ...readFileSync(join(root, 'packages/providers/src/sync/registry.ts'), 'utf8').matchAll(
      /'(.+)': .*'\.\/(.+)\.ts'/g,
    ),
  ].map(([, tag, name]) => [tag, name] as const),
)

/**
 * Returns the files and rows of a destination in the tree: its own files, rows that begin with its tag or, in
 * documents, with its vendor's name, and other files that name the tag.
 */
function takenBy(tag: SyncTag): Takes {
  const name = fileNames.get(tag) ?? tag
  const files = new RegExp(`^(packages/providers/(?:src|test)/sync/)${name}(-fake|\\.test)?\\.ts$`)
  const vendor = syncVendors[tag].name.replace('.', '\\.')
  const begins = new RegExp(`^(?: *'${tag}': |\\| ${vendor} \\|)`, 'gm')
  const names = new RegExp(`['"\`]${tag}['"\`]`)
  return Object.fromEntries(
    sources.flatMap(({ file, text }) => {
      if (files.test(file)) return [[file.replace(files, '$1<service>$2.ts'), 'new']]
      const rows = text.match(begins)?.length ?? 0
      if (rows > 0) return [[oneOfKind(file), rows === 1 ? '1 row' : `${rows} rows`]]
      return names.test(text) ? [[file, 'made']] : []
    }),
  )
}

const taken = new Map(tags.map((tag) => [tag, takenBy(tag)]))

/** Besides its row of results and its row of the comparison, a destination may have one about undocumented facts. */
const settled = (takes: Takes): Takes => (takes[testsPage] === '3 rows' ? { ...takes, [testsPage]: '2 rows' } : takes)

it.each(tags)('the files of %s have the slug of its vendor as their name', (tag) =>
  expect(fileNames.get(tag)).toBe(syncVendors[tag].slug),
)

describe('the page on adding a destination', () => {
  it.each(tags)('lists the files and rows of %s', (tag) => {
    const takes = settled(taken.get(tag) ?? {})
    expect(Object.fromEntries(Object.keys(listed).map((file) => [file, takes[file]]))).toEqual(listed)
  })

  it('lists every file that contains all destinations', () => {
    const [first = {}, ...others] = [...taken.values()]
    const everywhere = Object.keys(first).filter((file) => others.every((takes) => file in takes))
    expect(everywhere.sort()).toEqual(Object.keys(listed).sort())
  })
})

it('the table of undocumented facts names only existing destinations, each once', () => {
  const section = sectionOf(testsPage, 'What no public document settles')
  const told = [...section.matchAll(/^\| (?!Destination )([^|-][^|]*) \|/gm)].map(([, name]) => name)
  const names = tags.map((tag): string => syncVendors[tag].name)
  expect(told.length).toBeGreaterThan(0)
  expect(told.filter((name, index, all) => !names.includes(name!) || all.indexOf(name) < index)).toEqual([])
})

it('the page says for every fake when and with what it was compared, or that it was not', () => {
  const table = sectionOf(testsPage, 'What the fakes were compared with')
  const rows = [...table.matchAll(/^\| ([^|-][^|]*) \| (\d{4}-\d{2}-\d{2}|not compared) \| ([^|]+) \|/gm)]
  const names = [...tags.map((tag) => syncVendors[tag].name), 'leases: AWS', 'leases: Google Cloud']
  expect(rows.map(([, fake]) => fake).sort()).toEqual(names.sort())
  for (const [, , date, description] of rows)
    expect(description).toMatch(date === 'not compared' ? /no official description/ : /\d/)
})
