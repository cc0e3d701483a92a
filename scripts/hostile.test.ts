import { globSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'

// docs/hostile.md is a table of attacks, each with its test. Without this suite a renamed test would go unnoticed.

const cwd = fileURLToPath(new URL('..', import.meta.url))
const page = readFileSync(`${cwd}/docs/hostile.md`, 'utf8')

/** `| CLI | what is tried | `suite` <!-- title --> | what is seen, with `words` |` */
const rows = [...page.matchAll(/^\| (\w+) \| (.+) \| `([^`]+\.test\.ts)` <!-- (.+) --> \| (.+) \|$/gm)].map(
  ([, on, attack, suite, title, seen]) => ({ on, attack, suite: suite!, title: title!, seen: seen! }),
)
const pathsOf = (suite: string) => globSync(`packages/{,server/src/}${suite}`, { cwd })

test('every line of the table of attacks can be parsed, and every section names a test', () => {
  expect(page.split('\n').filter((line) => /^\| (?!On |-)/.test(line))).toHaveLength(rows.length)
  const sections = page.split(/^## /m).slice(1)
  const numbers = sections.map((text) => Number.parseInt(text, 10)).filter(Number.isInteger)
  expect(numbers).toEqual(numbers.map((_, index) => index + 1))
  expect(sections.filter((text) => !text.includes('.test.ts` <!-- '))).toEqual([])
})

test.each(rows)('$suite has the test `$title` and the words that its row quotes', ({ suite, title, seen }) => {
  const [path, another] = pathsOf(suite)
  expect([path, another]).toEqual([expect.any(String), undefined])
  const text = readFileSync(`${cwd}/${path}`, 'utf8').replace(/\(\s+'/g, "('")
  expect(text).toContain(`('${title}'`)
  const words = [...seen.matchAll(/`([^`]+)`/g)].map(([, word]) => word!)
  expect(words.length).toBeGreaterThan(0)
  for (const word of words) expect(text).toContain(word)
})

test('every suite of attacks is in the table', () => {
  const suites = globSync('packages/*/test/hostile/*.test.ts', { cwd })
  const named = new Set(rows.flatMap(({ suite }) => pathsOf(suite)))
  expect(suites.filter((path) => !named.has(path))).toEqual([])
})
