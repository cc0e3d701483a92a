import { existsSync, globSync, readFileSync } from 'node:fs'
import { join, posix } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'

// The SDK promises the modules that its package.json exports. Modules below `internal/` are for the packages of this
// repository, and nobody else may rely on them: no document names them, and no example imports them.

const root = fileURLToPath(new URL('..', import.meta.url))
const name = '@skerry/sdk'
const internal = `${name}/internal`
const read = (path: string) => readFileSync(join(root, path), 'utf8')
const find = (...patterns: string[]) =>
  globSync(patterns, { cwd: root, exclude: (path) => /(^|\/)(node_modules|dist(\.\d+)?)$/.test(path) })

const { exports: map } = JSON.parse(read('packages/sdk/package.json')) as { exports: Record<string, string> }
const { './internal/*': internalFiles, ...publicFiles } = map
const modules = Object.keys(publicFiles).map((path) => posix.join(name, path))
const documents = find('*.md', 'docs/**/*.md', 'packages/*/README.md', 'examples/*/README.md')

/** Finds the modules of the SDK that a text names, such as `@skerry/sdk/cache`. */
const namedIn = (text: string) => [...text.matchAll(/@skerry\/sdk(?:\/[\w-]+)*/g)].map(([found]) => found)

test('the documents name every module of the SDK, and no internal one', () => {
  const named = new Set(documents.flatMap((path) => namedIn(read(path))))
  // The documents may explain the folder `internal` itself.
  named.delete(internal)
  expect([...named].sort()).toEqual([...modules].sort())
})

test('the README of the SDK has a row for every module', () => {
  const rows = [...read('packages/sdk/README.md').matchAll(/^\| `(@skerry\/sdk[^`]*)` /gm)].map(([, found]) => found)
  expect(rows).toEqual(modules)
})

test('every module of the SDK has its file', () => {
  const missing = Object.values(publicFiles).filter((path) => !existsSync(join(root, 'packages/sdk', path)))
  expect(missing).toEqual([])
  expect(internalFiles).toBe('./src/*.ts')
})

test('the documents name no internal function and no internal class', async () => {
  const loaded = await Promise.all(modules.map((path) => import(path) as Promise<object>))
  const offered = new Set(loaded.flatMap((one) => Object.keys(one)))
  const code = documents.flatMap((path) => read(path).match(/`[^`]+`|^ {4}.*$/gm) ?? []).join('\n')
  const exported = find('packages/sdk/src/**/*.ts').flatMap((path) =>
    [...read(path).matchAll(/^export (?:async )?(?:function|class|const) (\w+)/gm)].map(([, found]) => found!),
  )
  // Names of one word, such as `send`, are left out, because documents use them as ordinary words.
  const distinct = exported.filter((found) => /.[A-Z]/.test(found))
  expect(distinct.length).toBeGreaterThan(80)
  const named = distinct.filter((found) => new RegExp(`\\b${found}\\b`).test(code))
  expect(named).toEqual(expect.arrayContaining(['createSkerry', 'createLease', 'RollbackError']))
  expect(named.filter((found) => !offered.has(found))).toEqual([])
})

test('examples import no internal module', () => {
  const named = find('examples/**/*.{ts,js}').flatMap((path) => namedIn(read(path)))
  expect(named.length).toBeGreaterThan(0)
  expect(named.filter((found) => !modules.includes(found))).toEqual([])
})

test('the packages import each module by one name', () => {
  const doubles = new Set(
    Object.values(publicFiles).map((path) => `${internal}/${path.slice('./src/'.length, -'.ts'.length)}`),
  )
  const twice = find('{packages,bench,examples,scripts}/**/*.{ts,tsx,js}').filter((path) =>
    namedIn(read(path)).some((found) => doubles.has(found)),
  )
  expect(twice).toEqual([])
})
