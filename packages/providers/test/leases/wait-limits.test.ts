import { expect, test } from 'vitest'
import { waitLimits } from '../../src/leases/checks.ts'
import { testOutbound } from '../outbound.ts'

// If the adapter gave up first, an account could appear after its lease was refused. See stuck.ts.

test('a database ends a statement before the adapter stops waiting for it', () => {
  const { answerMs: _, ...usual } = testOutbound()
  expect(waitLimits(usual)).toEqual({ answerMs: 10_000, statementMs: 8000 })
  expect(waitLimits({ ...usual, answerMs: 5000 })).toEqual({ answerMs: 5000, statementMs: 4000 })
})

test('a configured limit is used as it is', () => {
  expect(waitLimits({ ...testOutbound({}, 10_000), statementMs: 2000 })).toEqual({
    answerMs: 10_000,
    statementMs: 2000,
  })
})
