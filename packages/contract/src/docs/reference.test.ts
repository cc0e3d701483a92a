import { Compile } from 'typebox/compile'
import { describe, expect, test } from 'vitest'
import { auditActions } from '../actions.ts'
import { listEndpoints } from '../endpoints.ts'
import { errorStatus } from '../errors.ts'
import type { Schema } from '../fields.ts'
import { limits } from '../limits.ts'
import { blobKinds, idPrefixes } from '../prefixes.ts'
import { refusalsOf } from '../refusals.ts'
import { type OpenApiOperation, openApiDocument } from './openapi.ts'
import { exampleOf } from './reference-examples.ts'
import { reference } from './reference-model.ts'
import { rowsOf, typeWords } from './reference-words.ts'

const operations = reference().sections.flatMap((section) => section.operations)

function find(id: string) {
  const found = operations.find((operation) => operation.id === id)
  if (!found) throw new Error(`no operation ${id}`)
  return found
}

describe('the reference', () => {
  test('every operation stands in it, once', () => {
    const expected = listEndpoints().map(({ heading, name }) => `${heading}.${name}`)
    expect(operations.map(({ id }) => id).sort()).toEqual(expected.sort())
  })

  test('every example answer is one that its operation could give', () => {
    for (const { heading, name, endpoint } of listEndpoints())
      for (const [status, schema] of Object.entries(endpoint.responses)) {
        const place = `${heading}.${name} ${status}`
        expect(Compile(schema).Errors(exampleOf(schema as Schema)), place).toEqual([])
        expect(
          find(`${heading}.${name}`)
            .answers.map(({ statuses }) => statuses)
            .join(' '),
          place,
        ).toContain(status)
      }
  })

  test('fields say what they take, and where they stand', () => {
    const rows = find('branches.create').fields.map((field) => [field.in, field.name, field.type, field.required])
    expect(rows).toEqual([
      ['path', 'orgId', 'id `org_...`', true],
      ['path', 'envId', 'id `env_...`', true],
      ['body', 'slug', 'slug', true],
      ['body', 'name', 'text without control characters, 1 to 200 characters', false],
      ['body', 'ttlSeconds', 'integer, 1 to 2,592,000 or null', false],
      ['body', 'wrappedDek', 'blob `wd1.`, at most 4,096 characters', true],
      ['body', 'recoveryWrappedDek', 'blob `wd1.`, at most 4,096 characters', false],
      ['body', 'grants', 'list of object, at most 200', false],
      ['body', 'grants[].principalType', '`user` or `service_token`', true],
      ['body', 'grants[].principalId', 'letters, digits and `_`, at most 64 characters', true],
      ['body', 'grants[].wrappedDek', 'blob `wd1.`, at most 4,096 characters', true],
    ])
  })

  test('a pattern is shown where nothing else tells what is taken', () => {
    expect(typeWords({ type: 'string', pattern: '^[xy]{3}$' })).toBe('text like `^[xy]{3}$`')
    expect(typeWords({ type: 'string', pattern: '^[xy]{3}$', description: 'three of x and y' })).toBe('text')
    expect(rowsOf({ type: 'object' })).toEqual([])
  })

  test('statuses that carry the same shape are told together', () => {
    expect(find('secrets.put').answers.map(({ statuses }) => statuses)).toEqual(['200 or 201', '202'])
  })

  test('mutations tell their audit actions; a read tells one only where a denial is recorded', () => {
    expect(find('envs.delete').audit).toBe('`env.deleted`, `branch.deleted`')
    expect(find('envs.get').audit).toBe('')
    expect(find('resolve.get').audit).toBe('`env.resolve_denied`, when it is denied')
  })

  test('it shows what the OpenAPI document says, and refuses a document that refers to nothing', () => {
    const document = openApiDocument()
    const health = document.paths['/health']?.get as OpenApiOperation
    health.summary = 'Something else'
    expect(reference(undefined, document).sections[0]?.operations[0]?.summary).toBe('Something else')
    health.responses['400'] = { $ref: '#/components/responses/nothing' }
    expect(() => reference(undefined, document)).toThrow('#/components/responses/nothing')
  })

  test('every code that an operation can refuse with is shown under its status', () => {
    for (const { heading, name, endpoint } of listEndpoints())
      expect(find(`${heading}.${name}`).refusals).toEqual([...refusalsOf(endpoint)])
  })

  test('who may call is shown where the server tells it', () => {
    const access = { names: new Map([['GET /v1/orgs/:orgId/apps', 'member']]), words: { member: 'a member' } }
    const [apps] = reference(access).sections.filter(({ anchor }) => anchor === 'apps')
    expect(apps?.operations.map((operation) => operation.access).slice(0, 2)).toEqual(['member', ''])
  })
})

describe('the tables', () => {
  test.each([
    ['errors', Object.keys(errorStatus)],
    ['limits', Object.keys(limits)],
    ['ids', Object.values(idPrefixes)],
    ['blobs', Object.keys(blobKinds).map((prefix) => `${prefix}.`)],
    ['audit-actions', Object.keys(auditActions)],
  ])('%s: a row for each', (anchor, names) => {
    const table = reference().tables.find((candidate) => candidate.anchor === anchor)
    expect(table?.rows.map(([first]) => first)).toEqual(names.map((name) => `\`${name}\``))
    for (const row of table?.rows ?? []) expect(row).toHaveLength(table?.columns.length ?? 0)
  })

  test('a limit is given in its own unit and in one for people', () => {
    const rows = new Map(reference().tables.flatMap(({ rows }) => rows.map(([name, value]) => [name, value])))
    expect(rows.get('`bodyBytes`')).toBe('2,097,152 (2 MiB)')
    expect(rows.get('`inviteTtlSeconds`')).toBe('604,800 (7 days)')
    expect(rows.get('`listMax`')).toBe('1,000')
  })
})
