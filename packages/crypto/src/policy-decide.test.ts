import { describe, expect, test } from 'vitest'
import vectors from '../vectors/policies.json' with { type: 'json' }
import { decide, matchesPath } from './policy-decide.ts'

describe('a policy decides', () => {
  test.each(vectors.decisions)(
    '$method $host$path with $secret: $decision',
    ({ decision, ruleIndex, ...operation }) => {
      expect(decide(vectors.rules, operation)).toEqual({ decision, ruleIndex })
    },
  )

  test.each(vectors.globs as [string, string, boolean][])('%s on %s: %s', (pattern, path, matches) => {
    expect(matchesPath(pattern, path)).toBe(matches)
  })

  test('scopes of a task only take away', () => {
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

  test('a pattern of many stars on a long path is decided within a second', () => {
    const started = performance.now()
    expect(matchesPath(`/${'*a'.repeat(100)}`, `/${'a'.repeat(5000)}b`)).toBe(false)
    expect(matchesPath(`/${'**/a/'.repeat(100)}x`, '/a'.repeat(5000))).toBe(false)
    expect(performance.now() - started).toBeLessThan(1000)
  })
})
