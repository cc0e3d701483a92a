import { globSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'

const cwd = fileURLToPath(new URL('..', import.meta.url))

test('every test that the threat model names exists', () => {
  const text = readFileSync(`${cwd}/docs/threat-model.md`, 'utf8')
  const named = [
    ...text.matchAll(/`((?:features|server|cli|sdk|crypto|connect|dashboard|providers|proxy)\/[^`]+)`/g),
  ].map((match) => match[1])
  expect(named.length).toBeGreaterThan(40)
  const missing = named.filter((path) => globSync(`packages/{,server/src/}${path}`, { cwd }).length === 0)
  expect(missing).toEqual([])
})
