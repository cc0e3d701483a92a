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
  test('has every operation once', () => {
    const expected = listEndpoints().map(({ heading, name }) => `${heading}.${name}`)
    expect(operations.map(({ id }) => id).sort()).toEqual(expected.sort())
  })

  test('has only example answers that are valid for their operation', () => {
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

  test('says where each field is and which values it accepts', () => {
    const rows = find('branches.create').fields.map((field) => [field.in, field.name, field.type, field.required])
    expect(rows).toEqual([
      ['path', 'orgId', 'id `org_...`', true],
      ['path', 'envId', 'id `env_...`', true],
      ['body', 'id', 'id `env_...`', false],
      ['body', 'slug', 'slug', true],
      ['body', 'name', 'text without control characters, 1 to 200 characters', false],
      ['body', 'ttlSeconds', 'integer, 1 to 2,592,000 or null', false],
      ['body', 'wrappedDek', 'blob `wd1.`, at most 4,096 characters', true],
      ['body', 'recoveryWrappedDek', 'blob `wd1.`, at most 4,096 characters', false],
      ['body', 'manifest', 'text, at most 8,192 characters', false],
      ['body', 'grants', 'list of object, at most 200', false],
      ['body', 'grants[].principalType', '`user` or `service_token`', true],
      ['body', 'grants[].principalId', 'letters, digits and `_`, at most 64 characters', true],
      ['body', 'grants[].wrappedDek', 'blob `wd1.`, at most 4,096 characters', true],
    ])
  })

  test('shows a pattern if nothing else describes the values', () => {
    expect(typeWords({ type: 'string', pattern: '^[xy]{3}$' })).toBe('text like `^[xy]{3}$`')
    expect(typeWords({ type: 'string', pattern: '^[xy]{3}$', description: 'three of x and y' })).toBe('text')
    expect(rowsOf({ type: 'object' })).toEqual([])
  })

  test('shows statuses with the same shape together', () => {
    expect(find('secrets.put').answers.map(({ statuses }) => statuses)).toEqual(['200 or 201', '202'])
  })

  test('shows the audit actions of mutations, and those of a read only if its denial is recorded', () => {
    expect(find('envs.delete').audit).toBe(
      '`env.deleted`, `branch.deleted`, `directory.root_changed`, `directory.signed`',
    )
    expect(find('envs.get').audit).toBe('')
    expect(find('resolve.get').audit).toBe('`env.resolve_denied`, if the server refuses the request')
  })

  test('shows the content of the OpenAPI document, and refuses a document with a broken reference', () => {
    const document = openApiDocument()
    const health = document.paths['/health']?.get as OpenApiOperation
    health.summary = 'Something else'
    expect(reference(undefined, document).sections[0]?.operations[0]?.summary).toBe('Something else')
    health.responses['400'] = { $ref: '#/components/responses/nothing' }
    expect(() => reference(undefined, document)).toThrow('#/components/responses/nothing')
  })

  test('shows every error code of an operation under its status', () => {
    for (const { heading, name, endpoint } of listEndpoints())
      expect(find(`${heading}.${name}`).refusals).toEqual([...refusalsOf(endpoint)])
  })

  test('shows who may call an operation, if the server says so', () => {
    const rules = new Map([['GET /v1/orgs/:orgId/apps', 'A member.']])
    const [apps] = reference(rules).sections.filter(({ anchor }) => anchor === 'apps')
    expect(apps?.operations.map((operation) => operation.access).slice(0, 2)).toEqual(['A member.', ''])
  })
})

describe('the tables', () => {
  test.each([
    ['errors', Object.keys(errorStatus)],
    ['limits', Object.keys(limits)],
    ['ids', Object.values(idPrefixes)],
    ['blobs', Object.keys(blobKinds).map((prefix) => `${prefix}.`)],
    ['audit-actions', Object.keys(auditActions)],
  ])('%s has a row for each item', (anchor, names) => {
    const table = reference().tables.find((candidate) => candidate.anchor === anchor)
    expect(table?.rows.map(([first]) => first)).toEqual(names.map((name) => `\`${name}\``))
    for (const row of table?.rows ?? []) expect(row).toHaveLength(table?.columns.length ?? 0)
  })

  test('a limit is shown in its own unit and in one for people', () => {
    const rows = new Map(reference().tables.flatMap(({ rows }) => rows.map(([name, value]) => [name, value])))
    expect(rows.get('`bodyBytes`')).toBe('2,097,152 (2 MiB)')
    expect(rows.get('`inviteTtlSeconds`')).toBe('604,800 (7 days)')
    expect(rows.get('`listMax`')).toBe('1,000')
  })
})
