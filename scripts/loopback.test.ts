import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { root } from './generate.ts'

/** Files that list networks. They do not decide whether a host is this machine. */
const networks = [
  'packages/contract/src/loopback.ts',
  'packages/providers/src/addresses.ts',
  'packages/server/src/http/forwarded.ts',
]

/** Code that compares a host with loopback addresses: a prefix, a pattern, or a list. */
const ownRule =
  /startsWith\('127|\^127|\(127\\|[=!]== '(?:localhost|127\.0\.0\.1|\[?::1\]?)'|\['localhost'|'\[?::1\]?'[,\]]/

test('only contract/src/loopback.ts decides whether a host is this machine', () => {
  const files = globSync('packages/*/{src,app}/**/*.{ts,tsx,js}', { cwd: root })
  const sources = files.filter((path) => !path.includes('.test.') && !networks.includes(path))
  expect(sources.length).toBeGreaterThan(500)
  expect(sources.filter((path) => ownRule.test(readFileSync(join(root, path), 'utf8')))).toEqual([])
})
