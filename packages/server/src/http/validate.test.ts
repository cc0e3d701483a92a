import { get, post } from '@skerry/contract/endpoint'
import { SecretName, Strict } from '@skerry/contract/schema'
import { Type } from 'typebox'
import { expect, test } from 'vitest'
import { Refusal } from '../kernel/errors.ts'
import { compileChecks } from './validate.ts'

const checks = compileChecks(
  post('/v1/orgs/:orgId/envs/:envId/secrets/:name', {
    summary: 'A shape with one of everything',
    unaudited: 'only a test knows it',
    query: Strict({
      limit: Type.Optional(Type.Integer({ minimum: 1, maximum: 10 })),
      with: Type.Optional(Type.Array(Type.String({ pattern: '^[a-z]+$' }), { maxItems: 2 })),
      word: Type.Optional(Type.String({ maxLength: 5 })),
    }),
    body: Strict({
      name: SecretName,
      role: Type.Optional(Type.Union([Type.Literal('admin'), Type.Literal('member')])),
      until: Type.Optional(Type.Union([Type.Integer(), Type.Null()])),
      grants: Type.Optional(
        Type.Array(Strict({ to: Type.String({ minLength: 1 }), key: Type.Integer() }), { maxItems: 3 }),
      ),
      versions: Type.Optional(
        Type.Record(Type.String({ pattern: '^[A-Z]+$' }), Type.Integer(), {
          additionalProperties: false,
          maxProperties: 2,
        }),
      ),
    }),
    responses: {},
  }),
)

function refusal(run: () => unknown): Refusal {
  try {
    run()
  } catch (error) {
    if (error instanceof Refusal) return error
    throw error
  }
  throw new Error('was not refused')
}
const bodySays = (body: unknown) => refusal(() => checks.body(body)).message
const querySays = (query: unknown) => refusal(() => checks.query(query)).message

test.each([
  [{ name: 7 }, /^body\.name: /],
  [{ name: 'A-B' }, /^body\.name: /],
  [{ name: 'A', role: 'owner' }, /^body\.role: /],
  [{ name: 'A', until: 'never' }, /^body\.until: /],
  [{ name: 'A', grants: {} }, /^body\.grants: /],
  [
    {
      name: 'A',
      grants: [
        { to: 'x', key: 1 },
        { to: '', key: 1 },
      ],
    },
    /^body\.grants\.1\.to: /,
  ],
  [{ name: 'A', grants: [{ to: 'x', key: 1.5 }] }, /^body\.grants\.0\.key: /],
  [[], /^body: /],
  ['text', /^body: /],
  [7, /^body: /],
])('the refusal of the invalid body %j names the path of the error', (body, place) => {
  expect(bodySays(body)).toMatch(place)
})

test('the refusal of a value outside a fixed set lists the allowed values', () => {
  for (const role of ['owner', '', 7, null])
    expect(bodySays({ name: 'A', role })).toBe('body.role: must be admin or member')
})

test('the refusal of a missing field names the field and its path', () => {
  expect(bodySays({})).toBe('body: name is required')
  expect(bodySays(undefined)).toBe('body: name is required')
  expect(bodySays({ name: 'A', grants: [{ to: 'x' }] })).toBe('body.grants.0: key is required')
})

test('the refusal of an unknown field names the field and its path', () => {
  expect(bodySays({ name: 'A', nmae: 'B' })).toBe('body: unknown field "nmae"')
  expect(bodySays({ name: 'A', grants: [{ to: 'x', key: 1, also: 1 }] })).toBe('body.grants.0: unknown field "also"')
  expect(querySays({ lmit: '5' })).toBe('query: unknown field "lmit"')
  expect(bodySays({ name: 'A', ['x'.repeat(500)]: 1 }).length).toBeLessThan(120)
})

test('the refusal of many unknown fields names the first one, and shortens a long name', () => {
  const many = Object.fromEntries(Array.from({ length: 20 }, (_, n) => [`field_${n}`, 1]))
  expect(bodySays(many)).toBe('body: unknown field "field_0"')
  expect(bodySays({ name: 'A', grants: [{ to: 'x', key: 1, ...many }] })).toBe('body.grants.0: unknown field "field_0"')
  expect(bodySays({ ['x'.repeat(100_000)]: 1, ...many }).length).toBeLessThan(120)
})

test('the refusal of a key in a map repeats it only if it looks like a name', () => {
  expect(bodySays({ name: 'A', versions: { a: 1 } })).toBe('body.versions: unknown field "a"')
  expect(bodySays({ name: 'A', versions: { 'a value': 1 } })).toBe('body.versions: unknown field')
})

test('too many items or entries are refused before their values are checked', () => {
  const wrong = { to: '', key: 'x' }
  expect(bodySays({ name: 'A', grants: Array(4).fill(wrong) })).toBe('body.grants: must not have more than 3 items')
  expect(bodySays({ name: 'A', versions: { A: '', B: '', C: '' } })).toBe(
    'body.versions: must not have more than 2 entries',
  )
})

test('a refusal never repeats the wrong value', () => {
  const planted = 'planted-plaintext-7f3a'
  const bodies = [
    { name: planted },
    { name: 'A', role: planted },
    { name: 'A', until: planted },
    { name: 'A', grants: planted },
    { name: 'A', grants: [{ to: 'x', key: planted }] },
    planted,
  ]
  for (const body of bodies) expect(bodySays(body)).not.toContain(planted)
  for (const query of [{ limit: planted }, { with: planted }, { word: planted }])
    expect(querySays(query)).not.toContain(planted)
})

test('numbers and repeatable parameters of a query get their type from the schema', () => {
  expect(checks.query({ limit: '10', with: 'one', word: '12' })).toEqual({ limit: 10, with: ['one'], word: '12' })
  expect(checks.query({ with: ['one', 'two'] })).toEqual({ with: ['one', 'two'] })
  expect(checks.query({})).toEqual({})
})

test.each(['', ' 1', '1.0', '1e1', '0x1', '١', '11', '0', '-1', '9'.repeat(30)])('the limit %j is refused', (limit) => {
  expect(querySays({ limit })).toMatch(/^query\.limit: /)
})

test('a parameter that is sent too often is refused', () => {
  expect(querySays({ limit: ['1', '2'] })).toMatch(/^query\.limit: /)
  expect(querySays({ word: ['a', 'b'] })).toMatch(/^query\.word: /)
  expect(querySays({ with: ['a', 'b', 'c'] })).toMatch(/^query\.with: /)
})

test('a malformed path parameter is refused: an id as not found, a name as invalid', () => {
  const params = { orgId: `org_${'0'.repeat(22)}`, envId: `env_${'0'.repeat(22)}`, name: 'A' }
  expect(checks.params(params)).toEqual(params)
  const code = (more: object) => refusal(() => checks.params({ ...params, ...more })).code
  for (const envId of ['env_1', `env_${'0'.repeat(23)}`, params.orgId, `${params.envId}\n`, ''])
    expect(code({ envId })).toBe('not_found')
  for (const name of ['A-B', '1A', '', 'A\n']) expect(code({ name })).toBe('invalid_request')
})

test('an endpoint with an unknown path parameter does not compile', () => {
  const shape = { summary: 'A typing error', responses: {} }
  expect(() => compileChecks(get('/v1/orgs/:ogrId', shape))).toThrow('no rule for parameter ogrId')
})
