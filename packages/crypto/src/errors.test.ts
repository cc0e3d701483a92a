import { expect, test } from 'vitest'
import { CryptoError } from './errors.ts'

test('an error has its code, and its message ends with the subject', () => {
  const error = new CryptoError('reference_cycle', undefined, 'A -> B -> A')
  expect(error).toBeInstanceOf(Error)
  expect(error).toMatchObject({ name: 'CryptoError', code: 'reference_cycle', subject: 'A -> B -> A' })
  expect(error.message).toBe('secret references form a cycle: A -> B -> A')
})

test('the message of an error is the text of its code, with the detail after it', () => {
  expect(new CryptoError('malformed_key', 'detail').message).toBe('the key is malformed: detail')
  expect(new CryptoError('malformed_key').message).toBe('the key is malformed')
})
