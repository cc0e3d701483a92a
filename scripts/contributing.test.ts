import { globSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'

// CONTRIBUTING.md shows lines of the feature `apps`. They change more often than that page is read. documents.test.ts checks the
// files that it names.

const cwd = fileURLToPath(new URL('..', import.meta.url))
const page = readFileSync(`${cwd}/CONTRIBUTING.md`, 'utf8')

const server = 'packages/server/src/'
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
