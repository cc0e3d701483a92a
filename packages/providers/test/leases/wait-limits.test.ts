import { expect, test } from 'vitest'
import { waitLimits } from '../../src/leases/checks.ts'
import { testOutbound } from '../outbound.ts'

// Which side gives up first decides whether an account can come after its lease was refused: stuck.ts.

test('a database ends a statement by itself before the adapter gives it up', () => {
  const { answerMs: _, ...usual } = testOutbound()
  expect(waitLimits(usual)).toEqual({ answerMs: 10_000, statementMs: 8000 })
  expect(waitLimits({ ...usual, answerMs: 5000 })).toEqual({ answerMs: 5000, statementMs: 4000 })
})

test('a limit of its own is taken as it is', () => {
  expect(waitLimits({ ...testOutbound({}, 10_000), statementMs: 2000 })).toEqual({
    answerMs: 10_000,
    statementMs: 2000,
  })
})
