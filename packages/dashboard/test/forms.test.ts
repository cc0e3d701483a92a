import type { Endpoint } from '@skerry/contract/endpoint'
import { endpoints } from '@skerry/contract/endpoints'
import { SkerryError } from '@skerry/sdk/errors'
import { describe, expect, test } from 'vitest'
import { compileChecks } from '../../server/src/http/validate.ts'
import { fieldErrors } from '../app/form/check.ts'
import { refusedField } from '../app/form/refused-field.ts'

// A form checks its fields by the schema by which the server checks the body. Errors of both appear at the same field,
// in the same words.

/** Returns the field that the server refuses in a body, as the form would show it. */
function refusedByServer(endpoint: Endpoint, body: object) {
  try {
    compileChecks(endpoint).body(body)
  } catch (error) {
    return refusedField(new SkerryError('invalid_request', (error as Error).message))
  }
}

const long = 'x'.repeat(201)
const cases = [
  ['apps', 'create', { name: '', slug: 'web' }, 'name', 'This field is required.'],
  ['apps', 'create', { name: 'Web', slug: 'No Slug' }, 'slug', 'Lowercase letters, digits and inner hyphens.'],
  ['apps', 'create', { name: 'a\nb', slug: 'web' }, 'name', 'Line breaks and control characters are not allowed.'],
  ['apps', 'update', { name: long }, 'name', 'Enter at most 200 characters.'],
  ['invites', 'create', { email: 'nobody' }, 'email', 'Enter an e-mail address, such as name@example.com.'],
  ['protection', 'put', { requiredApprovals: 0 }, 'requiredApprovals', 'Enter 1 or more.'],
  ['protection', 'put', { requiredApprovals: 21 }, 'requiredApprovals', 'Enter 20 or less.'],
  ['cliLogin', 'poll', { code: 'no' }, 'code', 'Enter the code as the terminal shows it, such as WDJB-MJHT.'],
] as const

describe('a field that breaks a rule', () => {
  test.each(cases)(
    '%s.%s %j is refused by the form and the server with the same message',
    async (heading, name, body, path, message) => {
      expect(await fieldErrors(heading, name as never, body)).toEqual({ [path]: message })
      const endpoint = (endpoints[heading] as Record<string, unknown>)[name] as Endpoint
      expect(refusedByServer(endpoint, body)).toEqual({ path, message })
    },
  )

  test('is named by its path even within a list', async () => {
    const grants = [{ principalType: 'user', principalId: 'usr_x', wrappedDek: 'none' }]
    expect(Object.keys(await fieldErrors('branches', 'create', { grants }))).toEqual(['grants.0.wrappedDek'])
  })
})

describe('an empty or unknown field', () => {
  test('is not checked if it is optional and empty, or not in the body’s schema', async () => {
    expect(await fieldErrors('honeyTokens', 'create', { placement: '', format: 'classic' })).toEqual({})
    expect(await fieldErrors('orgs', 'create', { name: 'Acme', slug: 'acme' })).toEqual({})
  })
})

describe('a refusal of the server', () => {
  const refusal = (message: string) => refusedField(new SkerryError('conflict', message))

  test('is shown at the field that it names', () => {
    expect(refusal('body.slug: another group uses it')).toEqual({ path: 'slug', message: 'Another group uses it.' })
    expect(refusal('body.grants.3: usr_x is named twice')).toEqual({
      path: 'grants.3',
      message: 'Usr_x is named twice.',
    })
    expect(refusal('body: name is required')).toEqual({ path: 'name', message: 'This field is required.' })
  })

  test('applies to the whole form if it names no field', () => {
    for (const message of [
      'the request is approved already',
      'query.limit: must be <= 1000',
      'body: unknown field "x"',
    ])
      expect(refusal(message)).toBeUndefined()
    expect(refusedField(new Error('body.slug: is already in use'))).toBeUndefined()
  })
})
