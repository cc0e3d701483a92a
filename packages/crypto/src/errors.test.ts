import { expect, test } from 'vitest'
import { CryptoError } from './errors.ts'

test('an error carries its code, and its message ends with what it is about', () => {
  const error = new CryptoError('reference_cycle', undefined, 'A -> B -> A')
  expect(error).toBeInstanceOf(Error)
  expect(error).toMatchObject({ name: 'CryptoError', code: 'reference_cycle', subject: 'A -> B -> A' })
  expect(error.message).toBe('secret references form a cycle: A -> B -> A')
})

test('a detail stands between the message of the code and the subject', () => {
  expect(new CryptoError('malformed_key', 'detail').message).toBe('not a P-256 key in the expected form: detail')
  expect(new CryptoError('malformed_key').message).toBe('not a P-256 key in the expected form')
})
