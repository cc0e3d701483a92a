import { expect, test } from 'vitest'
import { patience } from '../../src/leases/checks.ts'
import { testOutside } from '../outside.ts'

// Which side gives up first decides whether an account can come after its lease was refused: stuck.ts.

test('a database ends a statement by itself before the adapter gives it up', () => {
  const { answerMs: _, ...usual } = testOutside()
  expect(patience(usual)).toEqual({ answerMs: 10_000, statementMs: 8000 })
  expect(patience({ ...usual, answerMs: 5000 })).toEqual({ answerMs: 5000, statementMs: 4000 })
})

test('a limit of its own is taken as it is', () => {
  expect(patience({ ...testOutside({}, 10_000), statementMs: 2000 })).toEqual({ answerMs: 10_000, statementMs: 2000 })
})
