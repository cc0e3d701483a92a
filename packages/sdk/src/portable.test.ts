import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'

const folder = import.meta.dirname
const files = readdirSync(folder).filter((name) => name.endsWith('.ts') && !name.endsWith('.test.ts'))

test.each(files)('%s runs in browsers and workers: it uses nothing that only Node has', (name) => {
  const lines = readFileSync(join(folder, name), 'utf8').split('\n')
  const code = lines.filter((line) => !/^\s*(?:\/?\*|\/\/)/.test(line)).join('\n')
  expect(code).not.toMatch(/'node:|\bprocess\b|\bBuffer\b|\brequire\(|\.\/node\//)
})

test.each(files)('%s imports no packages except the contract and the crypto package', (name) => {
  const text = readFileSync(join(folder, name), 'utf8')
  for (const [, from] of text.matchAll(/ from '([^']+)'/g))
    expect(from).toMatch(/^(?:\.\/|@skerry\/(?:contract|crypto)\/)/)
})
