import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { problemsOf } from './doc-examples/compile.ts'
import { namesIn } from './doc-examples/declared.ts'
import { examplesIn, fencesIn } from './doc-examples/find.ts'
import { allExamples } from './doc-examples.ts'

const fence = (...lines: string[]) => ['```ts', ...lines, '```', '']

describe('examples of a page', () => {
  const imported = "import { newDek } from '@skerry/crypto/secret'"

  test('an error is reported with its line on the page', () => {
    const page = ['# Keys', '', ...fence(imported, '', 'const dek = newDek(32)'), 'Text.'].join('\n')
    expect(problemsOf(fencesIn('docs/made-up.md', page))).toEqual([
      'docs/made-up.md:6: Expected 0 arguments, but got 1.',
    ])
  })

  test('an example sees the names that the examples above it declare, and may declare them again', () => {
    const page = [
      ...fence(imported, 'export const bytes = newDek()', 'const [first = 0] = bytes'),
      ...fence('const sum: number = first + 1', 'const bytes = await Promise.resolve(sum)'),
      ...fence('const text: string = bytes', 'newDek()'),
    ].join('\n')
    expect(problemsOf(fencesIn('docs/made-up.md', page))).toEqual([
      "docs/made-up.md:13: Type 'number' is not assignable to type 'string'.",
      "docs/made-up.md:14: Cannot find name 'newDek'.",
    ])
  })

  test('fences in other languages are ignored, even if they contain a fence of TypeScript', () => {
    const page = [
      '```sh',
      'skerry login',
      '```',
      '    npx skerry init',
      ...fence('const one = 1'),
      '````md',
      '```ts',
      '```',
      '````',
    ]
    expect(fencesIn('docs/made-up.md', page.join('\n'))).toEqual([
      { path: 'docs/made-up.md', line: 6, language: 'ts', text: 'const one = 1' },
    ])
  })

  test('TypeScript without a fence, and a fence without an end, are refused', () => {
    expect(() => fencesIn('docs/made-up.md', 'Text.\n\n    const skerry = createSkerry()')).toThrow('docs/made-up.md:3')
    expect(() => fencesIn('docs/made-up.md', 'Text.\n\n```ts\nconst one = 1')).toThrow('docs/made-up.md:3')
  })
})

describe('examples of doc comments', () => {
  const path = 'packages/crypto/src/base64url.ts'
  const comment = (...lines: string[]) =>
    ['/**', ' * Does it.', ' *', ...lines, ' */', 'export const made = 1'].join('\n')

  test('an error is reported with its line in the source', () => {
    const source = comment(' * @example encodeUtf8(255)', ' * @throws nothing')
    expect(problemsOf(examplesIn(path, source))).toEqual([
      `${path}:4: Argument of type 'number' is not assignable to parameter of type 'string'.`,
    ])
  })

  test('an example may have several lines, and two examples may declare the same name', () => {
    const source = [
      comment(' * @example', ' * const bytes = encodeUtf8(value)', ' * bytes.nothing'),
      '/** @example const bytes: string = decodeUtf8(encodeUtf8(value)) */',
    ].join('\n')
    expect(problemsOf(examplesIn(path, source))).toEqual([
      `${path}:6: Property 'nothing' does not exist on type 'Bytes'.`,
    ])
  })
})

test('every name in names.ts is used by an example', () => {
  const read = (path: string) => namesIn(readFileSync(join(import.meta.dirname, '..', path), 'utf8'))
  const used = allExamples()
    .filter(({ path }) => !path.endsWith('.md'))
    .flatMap(({ path, text }) => {
      const own = [read(path).all, namesIn(text).all]
      return (text.match(/\w+/g) ?? []).filter((word) => !own.some((names) => names.has(word)))
    })
  expect([...read('scripts/doc-examples/names.ts').exported].filter((name) => !used.includes(name))).toEqual([])
})
