import { globSync, readdirSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'

// Features may depend on each other only in one order, types included: to read a feature, one needs to know only those
// below it. The parts of the vault count as one feature.

const server = fileURLToPath(new URL('../packages/server/src', import.meta.url))
const features = join(server, 'features')

/** A file next to the folders, such as `descriptor.ts`, is a feature too: it must not import those that import it. */
const featureOf = (path: string): string => path.split('/')[0] as string

/** Feature -> the features that it imports from, each with one of the imports. */
type Graph = Map<string, Map<string, string>>

function graphOf(files: readonly string[], textOf: (file: string) => string): Graph {
  const graph: Graph = new Map()
  for (const file of files) {
    const below = graph.get(featureOf(file)) ?? new Map<string, string>()
    graph.set(featureOf(file), below)
    for (const [, imported] of textOf(file).matchAll(/\b(?:from|import\() ?'(\.[^']+)'/g)) {
      const to = join(dirname(file), imported as string)
      if (!to.startsWith('..') && featureOf(to) !== featureOf(file)) below.set(featureOf(to), `${file} → ${to}`)
    }
  }
  return graph
}

/** Returns the imports that form a cycle of features, or an empty list. */
function circleIn(graph: Graph): string[] {
  const done = new Set<string>()
  const search = (feature: string, path: readonly string[], imports: readonly string[]): string[] | undefined => {
    if (path.includes(feature)) return imports.slice(path.indexOf(feature))
    if (done.has(feature)) return undefined
    for (const [below, via] of graph.get(feature) ?? []) {
      const circle = search(below, [...path, feature], [...imports, via])
      if (circle) return circle
    }
    done.add(feature)
    return undefined
  }
  for (const feature of graph.keys()) {
    const circle = search(feature, [], [])
    if (circle) return circle
  }
  return []
}

test('the features have no cyclic dependencies', () => {
  const files = globSync('**/*.ts', { cwd: features }).filter((file) => !file.endsWith('.test.ts'))
  const graph = graphOf(files, (file) => readFileSync(join(features, file), 'utf8'))
  expect(graph.get('secrets')?.has('envs')).toBe(true)
  expect(circleIn(graph)).toEqual([])
})

test('every folder has a descriptor, and features.ts lists it', () => {
  const list = readFileSync(join(server, 'features.ts'), 'utf8')
  const imported = [...list.matchAll(/import \{ feature as \w+ \} from '\.\/features\/([^']+)\/feature\.ts'/g)]
  const folders = readdirSync(features, { withFileTypes: true }).filter((entry) => entry.isDirectory())
  expect(imported.map(([, folder]) => folder).sort()).toEqual(folders.map(({ name }) => name).sort())
})

test('a cycle is reported by its imports, including imports of types', () => {
  const texts: Record<string, string> = {
    'a/a.ts': `import { b } from '../b/b.ts'`,
    'b/b.ts': `import type { Cc } from '../c/deep/c.ts'`,
    'c/deep/c.ts': `const a = await import('../../a/a.ts')`,
    'd/d.ts': `import { a } from '../a/a.ts'\nimport { db } from '../../db/database.ts'`,
  }
  const graph = graphOf(Object.keys(texts), (file) => texts[file] as string)
  expect(circleIn(graph)).toEqual(['a/a.ts → b/b.ts', 'b/b.ts → c/deep/c.ts', 'c/deep/c.ts → a/a.ts'])
})
