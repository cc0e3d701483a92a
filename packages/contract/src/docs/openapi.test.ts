import { describe, expect, test } from 'vitest'
import { auditActions } from '../actions.ts'
import { listEndpoints } from '../endpoints.ts'
import { errorStatus } from '../errors.ts'
import { ErrorBody } from '../schema.ts'
import { headingTitles, type OpenApiOperation, openApiDocument } from './openapi.ts'
import { namedSchemas, nameOf } from './openapi-schemas.ts'

/** The document as a reader gets it, without what JSON cannot represent. */
const document = JSON.parse(JSON.stringify(openApiDocument())) as ReturnType<typeof openApiDocument>

const operations = Object.entries(document.paths).flatMap(([path, item]) =>
  Object.entries(item).map(([method, operation]) => ({ path, method, operation })),
)

function find(operationId: string): OpenApiOperation {
  const found = operations.find(({ operation }) => operation.operationId === operationId)
  if (!found) throw new Error(`no operation ${operationId}`)
  return found.operation
}

/** Yields every object inside, with its JSON pointer. */
function* objectsIn(value: unknown, pointer = '#'): Generator<[string, Record<string, unknown>]> {
  if (typeof value !== 'object' || value === null) return
  if (!Array.isArray(value)) yield [pointer, value as Record<string, unknown>]
  for (const [key, inner] of Object.entries(value))
    yield* objectsIn(inner, `${pointer}/${key.replaceAll('~', '~0').replaceAll('/', '~1')}`)
}

function lookUp(reference: string): unknown {
  expect(reference).toMatch(/^#\//)
  const keys = reference.slice(2).split('/')
  return keys.reduce<unknown>(
    (place, key) => (place as Record<string, unknown>)?.[key.replaceAll('~1', '/').replaceAll('~0', '~')],
    document,
  )
}

function resolved<T>(value: T | { $ref: string }): T {
  return (typeof value === 'object' && value && '$ref' in value ? lookUp(value.$ref) : value) as T
}

const references = [...objectsIn(document)].flatMap(([, { $ref }]) => (typeof $ref === 'string' ? [$ref] : []))

describe('the OpenAPI 3.1 document', () => {
  test('contains the target of every reference', () => {
    for (const reference of new Set(references)) expect(lookUp(reference), reference).toBeTypeOf('object')
  })

  test('refers to every component, whose name is valid in a reference', () => {
    for (const kind of ['schemas', 'parameters', 'responses'] as const)
      for (const name of Object.keys(document.components[kind])) {
        expect(references).toContain(`#/components/${kind}/${name}`)
        expect(name).toMatch(/^[a-zA-Z0-9._-]+$/)
      }
  })

  test('has unique operation ids, and a described tag for every operation', () => {
    const ids = operations.map(({ operation }) => operation.operationId)
    expect(new Set(ids).size).toBe(ids.length)
    const tags = document.tags.map(({ name }) => name)
    for (const { operation } of operations) expect(tags).toEqual(expect.arrayContaining(operation.tags))
    expect(tags).toEqual(Object.keys(headingTitles))
  })

  test('declares exactly the parameters of each path, all required', () => {
    for (const { path, operation } of operations) {
      const declared = operation.parameters.map(resolved).filter((parameter) => parameter.in === 'path')
      expect(declared.map(({ name }) => name)).toEqual([...path.matchAll(/\{(\w+)\}/g)].map((match) => match[1]))
      for (const { required, schema } of declared) {
        expect(required).toBe(true)
        expect(resolved(schema)).toMatchObject({ type: 'string', pattern: expect.any(String) })
      }
    }
  })

  test('declares no parameter twice', () => {
    for (const { operation } of operations) {
      const keys = operation.parameters.map(resolved).map((parameter) => `${parameter.in} ${parameter.name}`)
      expect(new Set(keys).size).toBe(keys.length)
    }
  })

  test('has a description and a schema for every answer, and only known security schemes', () => {
    for (const { operation } of operations) {
      for (const [status, given] of Object.entries(operation.responses)) {
        const response = resolved(given)
        expect(response.description).not.toBe('')
        // 304 has no body.
        const { content } = response
        const schema = (content?.['application/json'] ?? content?.['text/event-stream'])?.schema
        expect(schema).toBeTypeOf(status === '304' ? 'undefined' : 'object')
      }
      for (const scheme of operation.security.flatMap((needed) => Object.keys(needed)))
        expect(document.components.securitySchemes).toHaveProperty(scheme)
    }
  })

  test('uses only keywords of JSON Schema in its schemas', () => {
    const known =
      'type required properties patternProperties additionalProperties items anyOf enum const pattern description ' +
      'minLength maxLength minimum maximum minItems maxItems uniqueItems minProperties maxProperties default $ref'
    for (const [pointer, object] of objectsIn(document))
      if (typeof object.type === 'string' && !pointer.includes('/securitySchemes/'))
        for (const keyword of Object.keys(object)) expect(known.split(' '), pointer).toContain(keyword)
  })
})

describe('the operations of the document', () => {
  test('are exactly the endpoints', () => {
    const expected = listEndpoints().map(({ heading, name, endpoint }) => {
      const path = endpoint.path.replace(/:(\w+)/g, '{$1}')
      return `${heading}.${name}: ${endpoint.method.toLowerCase()} ${path}`
    })
    const shown = operations.map(({ path, method, operation }) => `${operation.operationId}: ${method} ${path}`)
    expect(shown.sort()).toEqual(expected.sort())
  })

  test('list the answers of their endpoint, and the refusals of their kind', () => {
    expect(Object.keys(find('secrets.put').responses)).toEqual('200 201 202 400 401 403 404 409 429 500'.split(' '))
    expect(Object.keys(find('me.get').responses)).toEqual('200 400 401 429 500'.split(' '))
    expect(Object.keys(find('health.live').responses)).toEqual('200 400 429 500'.split(' '))
    expect(Object.keys(find('resolve.get').responses)).toEqual('200 304 400 401 403 404 429 500'.split(' '))
  })

  test('name every error code of their endpoint under its status, with one common schema', () => {
    // The token endpoint has another schema, because OAuth libraries read its refusals.
    const formOf = ({ path }: { path: string }) => (path === '/oauth/token' ? 'OAuthErrorBody' : 'ErrorBody')
    for (const { heading, name, endpoint } of listEndpoints())
      for (const code of endpoint.refuses) {
        const response = resolved(find(`${heading}.${name}`).responses[errorStatus[code]] as { $ref: string })
        expect(response).toMatchObject({
          description: expect.stringContaining(`\`${code}\``),
          'x-skerry-codes': expect.arrayContaining([code]),
          content: { 'application/json': { schema: { $ref: `#/components/schemas/${formOf(endpoint)}` } } },
        })
      }
    expect(nameOf(ErrorBody)).toBe('ErrorBody')
  })

  test('name their audit actions, or the reason for none', () => {
    for (const { operation } of operations) {
      const { actions, reason } = operation['x-skerry-audit']
      expect(actions.length > 0).toBe(reason === undefined)
      for (const action of actions) expect(auditActions).toHaveProperty([action])
    }
    expect(find('apps.create')['x-skerry-audit']).toEqual({ actions: ['app.created'] })
  })

  test('say whether they need a credential, and which kinds they accept', () => {
    expect(find('apps.list').security).toEqual([{ bearer: [] }, { basic: [] }])
    expect(find('signup.create').security).toEqual([])
    expect(find('oauth.token').security).toEqual([{ basic: [] }, {}])
    expect(find('signIn.refresh').security).toEqual([{ refreshCookie: [] }])
    expect(find('identityLinks.get').security).toEqual([{ identityCookie: [] }])
    expect(find('signIn.redeemLink').security).toEqual([])
  })

  test('accept If-None-Match if their answer has an ETag', () => {
    const { parameters, responses } = find('resolve.get')
    expect(parameters).toContainEqual(expect.objectContaining({ name: 'If-None-Match', in: 'header', required: false }))
    for (const status of ['200', '304']) expect(responses[status]).toHaveProperty('headers.ETag')
    expect(find('apps.list').responses['200']).not.toHaveProperty('headers')
  })

  test('require a body that has a required field', () => {
    expect(find('apps.create').requestBody?.required).toBe(true)
    expect(find('secrets.delete').requestBody?.required).toBe(false)
    expect(find('apps.delete').requestBody?.required).toBe(false)
    expect(find('honeyTokens.delete').requestBody).toBeUndefined()
    expect(Object.keys(find('oauth.token').requestBody?.content ?? {})).toContain('application/x-www-form-urlencoded')
  })
})

describe('named schemas', () => {
  test('no two have the same content, because a reference points to one of them', () => {
    for (const [name, schema] of Object.entries(namedSchemas)) expect(nameOf(schema)).toBe(name)
  })

  test('an optional or nullable property refers to its schema like a plain one', () => {
    const body = document.components.schemas.RecoveryKeyAndShares as { properties: Record<string, unknown> }
    expect(body.properties.trust).toEqual({ $ref: '#/components/schemas/DirectoryDocuments' })
    const environment = document.components.schemas.Environment as { properties: Record<string, unknown> }
    expect(environment.properties.expiresAt).toEqual({
      anyOf: [{ $ref: '#/components/schemas/Instant' }, { type: 'null' }],
    })
    expect(document.components.schemas.Role).toEqual({ type: 'string', enum: ['owner', 'admin', 'member'] })
  })

  test('a shape of three fields or more that occurs in several places has a name', () => {
    const seen = new Map<string, string[]>()
    for (const [pointer, object] of objectsIn(document.paths)) {
      if (object.type !== 'object' || Object.keys(object.properties ?? {}).length < 3) continue
      const shape = JSON.stringify(object)
      seen.set(shape, [...(seen.get(shape) ?? []), pointer])
    }
    const nameless = [...seen.values()].filter((places) => new Set(places.map(formOf)).size > 1)
    expect(nameless, 'give these a name in openapi-schemas.ts').toEqual([])
  })
})

/** One body in two media types, or one answer under two statuses, counts as one place. */
const formOf = (pointer: string) => pointer.replace(/\/(?:requestBody|responses\/\d+)\/content\/[^/]+/, '')
