import { globSync, readFileSync } from 'node:fs'
import { join, posix } from 'node:path'
import { fileURLToPath } from 'node:url'
import { listEndpoints } from '@skerry/contract/endpoints'
import { beforeAll, describe, expect, test } from 'vitest'
import { buildSite } from '../../../scripts/site.ts'
import type { Build } from '../../server/src/http/build.ts'
import { problemsOf } from '../src/check.ts'
import { withoutRow } from '../src/navigation.ts'
import { apiDocuments } from '../src/reference/api.ts'
import { readChapters } from '../src/sources.ts'

const root = fileURLToPath(new URL('../../..', import.meta.url))
const dist = join(root, 'packages/site/dist')
const read = (path: string) => readFileSync(join(dist, path), 'utf8')

test('every document has a row in the navigation', () => {
  const chapters = readChapters(root, apiDocuments())
  const pages = chapters.filter(({ title }) => title === withoutRow).flatMap((chapter) => chapter.pages)
  expect(pages.map(({ path }) => path)).toEqual([])
})

test('llms.txt names the Markdown file of every page', () => {
  const { files } = JSON.parse(read('build.json')) as Build
  const pages = Object.keys(files).filter((path) => path.endsWith('/'))
  const named = [...read('llms.txt').matchAll(/^- \[[^\]]+\]\(([^)]+)\): \S/gm)].map(([, path]) => path as string)
  expect(read('llms.txt')).not.toMatch(/: Context\.$/m)
  expect(named).toHaveLength(pages.length)
  for (const path of named) expect(read(path)).toMatch(/^# /m)
})

test('every file of integrations/ and deploy/ that a page offers is in the site, unchanged, and is no page', () => {
  const { files } = JSON.parse(read('build.json')) as Build
  const offered = readChapters(root, apiDocuments()).flatMap(({ pages }) =>
    pages.flatMap(({ path, markdown }) =>
      [...markdown.matchAll(/\]\(([^)#\s]+)\)/g)]
        .map(([, href = '']) => posix.join(posix.dirname(path), href))
        .filter((target) => /^(?:integrations|deploy)\/(?!.*README\.md$)/.test(target)),
    ),
  )
  expect(offered).toEqual(expect.arrayContaining(['deploy/compose.yaml', 'integrations/github-action/action.yml']))
  for (const path of offered) {
    expect(files[`/docs/${path}`]?.type, path).toMatch(/^(?:text\/(?!html)|application\/json)/)
    expect(read(path)).toBe(readFileSync(join(root, path), 'utf8'))
  }
})

test('the server writes every message that operators are told to alert on', () => {
  const page = readFileSync(join(root, 'docs/operations/log.md'), 'utf8')
  const messages = [...page.matchAll(/^\| `([^`]+)` \| (?:error|warn) \|/gm)].map(([, message]) => message as string)
  expect(messages.length).toBeGreaterThan(5)
  const files = globSync('packages/server/src/**/*.ts', { cwd: root })
  const sources = files.filter((path) => !path.includes('.test.')).map((path) => readFileSync(join(root, path), 'utf8'))
  expect(messages.filter((message) => !sources.some((text) => text.includes(message)))).toEqual([])
})

describe('the reference of the API', () => {
  let pages: string
  beforeAll(() => {
    pages = Object.values(apiDocuments()).join('\n')
  })

  test('has every operation with its path, and who may call it', () => {
    for (const { heading, name, endpoint } of listEndpoints()) {
      expect(pages).toContain(`\n## ${heading}.${name}\n\n\`${endpoint.method} ${endpoint.path}\`\n`)
    }
    expect(pages).toContain(
      '\n- Access: A caller who belongs to the organization: a member, a service token or a machine client. The ',
    )
  })

  test('has as many cells in each row of a table as in its head, and no cell shows an object or undefined', () => {
    const tables = [...pages.matchAll(/(?:^\|.*\|$\n?)+/gm)].map(([table]) => table.trim().split('\n'))
    expect(tables.length).toBeGreaterThan(100)
    for (const rows of tables) {
      const cells = rows.map((row) => row.replaceAll('\\|', '').split('|').length)
      expect(new Set(cells).size, rows[0]).toBe(1)
    }
    expect(pages).not.toMatch(/\[object \w+\]|\bundefined\b/)
  })
})

describe('the check of a built site', () => {
  const problemsIn = (html: string, more: Record<string, string> = {}) =>
    problemsOf(new Map(Object.entries({ 'a/index.html': html, 'index.html': '<h1 id="top">', ...more })))

  test.each([
    '<script src="https://cdn.example/x.js"></script>',
    '<img alt="" src="//cdn.example/x.png">',
    '<link rel="stylesheet" href="http://cdn.example/x.css">',
    '<source srcset="/elsewhere.png">',
    '<iframe src="data:text/html,x"></iframe>',
    '<img src="missing.png">',
    '<script>alert(1)</script>',
    '<style>a{}</style>',
    '<p style="color:red">',
    '<p onclick="x()">',
    '<a href="../none/">',
    '<a href="../#none">',
    '<a href="/docs/">',
  ])('refuses %s', (html) => {
    expect(problemsIn(html)).toEqual([expect.stringMatching(/^a\/index\.html: /)])
  })

  test.each(['@import "https://fonts.example/x.css";', 'a{background:url(//cdn.example/x.png)}'])(
    'refuses %s in a style',
    (css) => {
      expect(problemsIn('', { 'site.css': css })).toEqual([expect.stringMatching(/^site\.css: requests /)])
    },
  )

  test('accepts links to other sites, which request nothing, and files and headings of the site', () => {
    const html = '<a href="https://example.com/">x</a><a href="../#top">y</a><img src="../x.png"><script src="../x.js">'
    expect(problemsIn(html, { 'x.png': '', 'x.js': '' })).toEqual([])
  })
})

test('sources that have not changed are not built again', async () => {
  await buildSite(root)
  expect(await buildSite(root)).toBeNull()
})
