import { describe, expect, test } from 'vitest'
import { fieldsOf, propertiesOf, shapesOf } from './fields.ts'
import { leaseProviders } from './leases/providers.ts'
import { rotationKinds } from './rotation/kinds.ts'
import { syncProviders } from './sync/providers.ts'

const literal = (value: string) => ({ type: 'string', const: value })

/** The path and the kind of each field. */
const kindsIn = (properties: object) => fieldsOf({ properties }).map(({ path, kind }) => [path, kind])

describe('the fields of a schema', () => {
  test('each type of value has its kind of field', () => {
    const kinds = kindsIn({
      name: { type: 'string', maxLength: 64 },
      certificate: { type: 'string', maxLength: 65_536 },
      port: { type: 'integer' },
      secret: { type: 'boolean' },
      level: { anyOf: [literal('readonly'), literal('custom')] },
      scopes: { type: 'array', items: { type: 'string', enum: ['read', 'write'] } },
      hosts: { anyOf: [literal('unrestricted'), { type: 'array', items: { type: 'string' } }] },
      statements: { type: 'array', items: { type: 'string' } },
      repositories: { type: 'array', items: { type: 'integer' } },
      roles: { type: 'array', items: { type: 'object', properties: { role: {}, db: {} } } },
      hostsByName: { type: 'object', patternProperties: { '^.*$': { type: 'array' } } },
    })
    expect(kinds).toEqual([
      ['name', 'text'],
      ['certificate', 'long'],
      ['port', 'number'],
      ['secret', 'yes-no'],
      ['level', 'choice'],
      ['scopes', 'some'],
      ['hosts', 'lines'],
      ['statements', 'lines'],
      ['repositories', 'numbers'],
      ['roles', 'rows'],
      ['hostsByName', 'lists'],
    ])
  })

  test('a property with one possible value is no field', () => {
    expect(kindsIn({ provider: literal('ssh'), user: { type: 'string' } })).toEqual([['user', 'text']])
  })

  test('a field of an optional object is optional, though the object requires it', () => {
    const connection = { type: 'object', properties: { host: { type: 'string' } }, required: ['host'] }
    const requiredIn = (required: string[]) => fieldsOf({ properties: { connection }, required })
    expect(requiredIn(['connection'])).toMatchObject([{ path: 'connection.host', required: true }])
    expect(requiredIn([])).toMatchObject([{ path: 'connection.host', required: false }])
  })

  test('a field has the choices, the columns and the description of its schema', () => {
    const level = { anyOf: [literal('readonly'), literal('custom')], description: 'What a lease may do.' }
    const roles = { type: 'array', items: { type: 'object', properties: { role: {}, db: {} } } }
    expect(fieldsOf({ properties: { level, roles } })).toMatchObject([
      { choices: ['readonly', 'custom'], columns: [], description: 'What a lease may do.' },
      { choices: [], columns: ['role', 'db'], description: '' },
    ])
  })

  test('every field of the contract has a description', () => {
    const configs = [...Object.values(leaseProviders), ...Object.values(rotationKinds)].map(({ config }) => config)
    const sync = Object.values(syncProviders).flatMap(({ config, destination }) => [config, destination])
    const fields = [...configs, ...sync].flatMap(shapesOf).flatMap((shape) => shape.fields)
    expect(fields.length).toBeGreaterThan(100)
    expect(fields.filter(({ description }) => description === '')).toEqual([])
  })
})

describe('the shapes of a schema', () => {
  test('a union has one for each member, by its kind', () => {
    const repo = { properties: { kind: literal('repo'), repo: { type: 'string' } } }
    const org = { properties: { kind: literal('org'), org: { type: 'string' } } }
    const shapes = shapesOf({ anyOf: [repo, { anyOf: [org] }] })
    expect(shapes.map(({ kind, fields }) => [kind, fields.map(({ path }) => path)])).toEqual([
      ['repo', ['repo']],
      ['org', ['org']],
    ])
  })

  test('any other schema has one, without a kind', () => {
    expect(shapesOf({ properties: {} })).toEqual([{ kind: undefined, schema: { properties: {} }, fields: [] }])
  })
})

test('the properties of an object say which of them are required', () => {
  const schema = { properties: { slug: { type: 'string' }, name: { type: 'string' } }, required: ['slug'] }
  expect(propertiesOf(schema).map(({ name, required }) => [name, required])).toEqual([
    ['slug', true],
    ['name', false],
  ])
})
