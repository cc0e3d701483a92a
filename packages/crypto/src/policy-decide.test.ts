import type { PolicyRule } from '@skerry/contract/agents/policy-body'
import { describe, expect, test } from 'vitest'
import { cpuMs } from '../test/cpu-ms.ts'
import vectors from '../vectors/policies.json' with { type: 'json' }
import { decide, type Operation, type PolicyDecision } from './policy-decide.ts'
import { matchesPath } from './policy-paths.ts'

describe('a policy decides', () => {
  test.each(vectors.decisions)(
    '$method $host$path with $secret: $decision',
    ({ decision, ruleIndex, ...operation }) => {
      expect(decide(vectors.rules, operation)).toEqual({ decision, ruleIndex })
    },
  )

  test.each(vectors.globs as [string, string, boolean][])('glob %s matches %s: %s', (pattern, path, matches) => {
    expect(matchesPath(pattern, path)).toBe(matches)
  })

  test('the scopes of a task can only narrow a policy', () => {
    const operation = { host: 'hooks.slack.com', method: 'POST', path: '/', secret: 'SLACK_WEBHOOK_URL' }
    const said = (scopes: string[] | null) => decide(vectors.rules, operation, scopes).decision
    expect(said(null)).toBe('allow')
    expect(said(['SLACK_WEBHOOK_URL'])).toBe('allow')
    expect(said([])).toBe('secret_not_allowed')
    expect(decide(vectors.rules, { ...operation, secret: 'OTHER' }, ['OTHER']).decision).toBe('secret_not_allowed')
  })

  test('an empty policy permits nothing', () => {
    expect(decide([], { host: 'a', method: 'GET', path: '/' })).toEqual({ decision: 'no_rule', ruleIndex: null })
  })

  test.each([
    ...['..;/admin', '..;a=b/admin', '%2e%2e;/admin', '..%3b/admin', '..%3B/', '%252e%252e/admin', '%25252e./admin'],
    ...['..%00/admin', '..%09/admin', '..%20/admin', '..%2500/', '%c0%ae%c0%ae/admin', '%e0%80%ae%e0%80%ae/admin'],
    ...['..%c0%afadmin', '..%5cadmin', '..\\admin', '..%255cadmin', '%u002e%u002e/', '%ef%bc%8e%ef%bc%8e/', '..%3f/'],
    ...['..', '.', '%2E', './a', '.;/', '%2525252525252e'],
  ])('%s could leave the path of a pattern, so no pattern permits it', (end) => {
    const rules = [{ host: 'a.example', methods: [], paths: ['/v1/items/**'], allow: [] }]
    const said = (path: string) => decide(rules, { host: 'a.example', method: 'GET', path }).decision
    expect(said(`/v1/items/${end}`)).toBe('path_not_allowed')
    expect(said(`/v1/items/a?x=/${end}`)).toBe('allow')
  })

  test.each([
    '.github/x',
    'a..b',
    '...',
    'v1.2/x',
    'a;b=..',
    'a%20b',
    '100%25',
    'caf%c3%a9',
    '%e2%80%a6',
    'a%2Fb',
    '.é',
    '%',
  ])('%s is an ordinary path', (end) => {
    const rules = [{ host: 'a.example', methods: [], paths: ['/v1/items/**'], allow: [] }]
    expect(decide(rules, { host: 'a.example', method: 'GET', path: `/v1/items/${end}` }).decision).toBe('allow')
  })

  test('a pattern of many stars is matched with a long path within a second of processor time', async () => {
    const took = await cpuMs(() => {
      expect(matchesPath(`/${'*a'.repeat(100)}`, `/${'a'.repeat(5000)}b`)).toBe(false)
      expect(matchesPath(`/${'**/a/'.repeat(100)}x`, '/a'.repeat(5000))).toBe(false)
    })
    expect(took).toBeLessThan(1000)
  })
})

/** The decision that `decide` promises, computed rule by rule without an index. */
function oneByOne(rules: readonly PolicyRule[], { host, method, path, secret }: Operation): PolicyDecision {
  const clear = path.split('?')[0]!
  const isTwisted = /(^|[/\\]|%2f|%5c)(\.|%2e){1,2}($|[/\\]|%2f|%5c)/i.test(clear)
  const same = (one: string, other: string) => one.toUpperCase() === other.toUpperCase()
  const ofHost = [...rules.entries()].filter(([, rule]) => same(rule.host, host))
  const ofPath = ofHost.filter(
    ([, { paths }]) => paths.length === 0 || (!isTwisted && paths.some((one) => matchesPath(one, clear))),
  )
  const [found] = ofPath.filter(([, { methods }]) => methods.length === 0 || methods.some((one) => same(one, method)))
  if (found) {
    const [ruleIndex, { allow }] = found
    return { decision: secret === undefined || allow.includes(secret) ? 'allow' : 'secret_not_allowed', ruleIndex }
  }
  const [first] = ofPath
  if (first) return { decision: 'method_not_allowed', ruleIndex: first[0] }
  return { decision: ofHost.length > 0 ? 'path_not_allowed' : 'no_rule', ruleIndex: null }
}

test('the index gives the same decisions as a search rule by rule, for 4,000 policies', () => {
  let seed = 20_260_101
  const below = (end: number) => {
    seed = (Math.imul(seed, 1_664_525) + 1_013_904_223) >>> 0
    return Math.floor((seed / 2 ** 32) * end)
  }
  const one = <T>(of: readonly T[]) => of[below(of.length)]!
  const some = <T>(most: number, make: () => T) => Array.from({ length: below(most + 1) }, make)
  const pathOf = (parts: string[]) => `/${some(4, () => one(parts)).join('/')}`
  const counts = new Map<string, number>()
  for (let policy = 0; policy < 4000; policy++) {
    const rules = some(12, () => ({
      host: one(['a.example', 'A.Example', 'b.example']),
      methods: some(2, () => one(['GET', 'POST', 'put'])),
      paths: some(3, () => pathOf(['a', 'b', '', '*', '**', 'a*', '*b', 'a**b'])),
      allow: some(2, () => one(['ONE', 'TWO'])),
    }))
    for (let asked = 0; asked < 4; asked++) {
      const operation = {
        host: one(['a.example', 'B.EXAMPLE', 'c.example']),
        method: one(['GET', 'get', 'PUT', 'DELETE']),
        path: pathOf(['a', 'b', '', 'ab', 'ba', '..', '%2E', 'c?a']),
        ...(below(2) === 0 ? {} : { secret: one(['ONE', 'TWO', 'THREE']) }),
      }
      const said = decide(rules, operation)
      expect({ rules, operation, said }).toEqual({ rules, operation, said: oneByOne(rules, operation) })
      counts.set(said.decision, (counts.get(said.decision) ?? 0) + 1)
    }
  }
  expect([...counts.keys()].sort()).toEqual([
    'allow',
    'method_not_allowed',
    'no_rule',
    'path_not_allowed',
    'secret_not_allowed',
  ])
  expect(Math.min(...counts.values())).toBeGreaterThan(400)
})
