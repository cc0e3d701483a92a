import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { generatedFiles, root } from './generate.ts'
import { findDeadFilters } from './suites-table.ts'

test.each(Object.entries(await generatedFiles()))(
  'a generated file is up to date: %s (if not: npm run generate)',
  async (path, text) => {
    expect(await readFile(join(root, path), 'utf8')).toBe(text)
    expect(text).not.toMatch(/\[object \w+\]|\bundefined`/)
  },
)

test('every row of the table of suites runs something', () => {
  expect(findDeadFilters()).toEqual([])
})
