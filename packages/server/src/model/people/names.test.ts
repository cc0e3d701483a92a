import { expect, test } from 'vitest'
import { called } from './names.ts'

const address = 'bob@example.com'

test.each([
  ['a name and an address', 'Bob', address, 'Bob (bob@example.com)'],
  ['no name', null, address, address],
  ['no address', 'Bob', null, 'Bob'],
  ['neither', null, null, 'usr_1'],
  [
    'the name and address of another person',
    'Ada (ada@example.com), X',
    address,
    'Ada (ada example com), X (bob@example.com)',
  ],
  ['no address and the name and address of another person', 'Ada (ada@example.com)', null, 'Ada (ada example com)'],
  ['a name that is a link', 'https://evil.example/x', address, 'https   evil example x (bob@example.com)'],
])('a person with %s is called so that only the own address looks like one', (_, name, email, text) => {
  expect(called({ id: 'usr_1', name, email })).toBe(text)
})
