import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { problemsOf } from './doc-examples/compile.ts'
import { type Example, examplesIn, fencesIn } from './doc-examples/find.ts'

// Type-checks the examples in documents and doc comments. A part of `npm run check`.

const root = join(import.meta.dirname, '..')

const pages = ['*.md', 'docs/**/*.md', 'bench/*.md', '{packages,examples}/*/README.md']
const sources = ['packages/{contract,crypto,sdk,executor,providers,proxy}/src/**/*.{ts,js}']

/** Every example that is checked. */
export function allExamples(): Example[] {
  const read = (globs: string[], find: typeof fencesIn) =>
    globSync(globs, { cwd: root }).flatMap((path) => find(path, readFileSync(join(root, path), 'utf8')))
  return [...read(pages, fencesIn), ...read(sources, examplesIn)]
}

if (import.meta.main) {
  const problems = problemsOf(allExamples())
  for (const problem of problems) console.error(problem)
  if (problems.length > 0) process.exitCode = 1
}
