import { globSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'

// CONTRIBUTING.md explains the code with names of files and with lines of the feature `apps`. Both change more often
// than someone reads that page.

const cwd = fileURLToPath(new URL('..', import.meta.url))
const page = readFileSync(`${cwd}/CONTRIBUTING.md`, 'utf8')

const server = 'packages/server/src/'
const folders = ['', 'packages/', server, `${server}features/`, `${server}features/*/`]

/** `<noun>` stands for any name. */
const isThere = (name: string): boolean =>
  globSync(
    folders.map((folder) => folder + name.replaceAll(/<\w+>/g, '*')),
    { cwd },
  ).length > 0

test('every file that CONTRIBUTING.md names exists', () => {
  const named = [...page.matchAll(/`([\w./<>-]+\.(?:ts|txt|json|md))`/g)].map(([, name]) => name as string)
  expect(named.length).toBeGreaterThan(40)
  expect(named.filter((name) => !isThere(name))).toEqual([])
})

test('every line of code that CONTRIBUTING.md shows is in the code of the feature `apps`', () => {
  const sources = globSync(['packages/contract/src/apps/*.ts', `${server}features/apps/*.ts`], { cwd })
  const lines = new Set(
    sources.flatMap((path) => readFileSync(`${cwd}/${path}`, 'utf8').split('\n')).map((line) => line.trim()),
  )
  const indented = [...page.matchAll(/^ {4,}(\S.*)$/gm)].map(([, line]) => line as string)
  const shown = indented.filter((line) => !/^(?:[A-Z_]+=1 )?(?:npm|npx|apt-get|bubblewrap) /.test(line))
  expect(shown.length).toBeGreaterThan(15)
  expect(shown.filter((line) => !lines.has(line))).toEqual([])
})
