import { describe, expect, test } from 'vitest'
import { auditActions } from '../actions.ts'
import { listEndpoints } from '../endpoints.ts'
import { errorStatus } from '../errors.ts'
import { ErrorBody } from '../schema.ts'
import { headingTitles, type OpenApiOperation, openApiDocument } from './openapi.ts'
import { namedSchemas, nameOf } from './openapi-schemas.ts'

/** As a reader gets it: what JSON does not carry is not in it. */
const document = JSON.parse(JSON.stringify(openApiDocument())) as ReturnType<typeof openApiDocument>

const operations = Object.entries(document.paths).flatMap(([path, item]) =>
  Object.entries(item).map(([method, operation]) => ({ path, method, operation })),
)

function find(operationId: string): OpenApiOperation {
  const found = operations.find(({ operation }) => operation.operationId === operationId)
  if (!found) throw new Error(`no operation ${operationId}`)
  return found.operation
}

/** Every object inside, with the JSON pointer to it. */
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

describe('the form that OpenAPI 3.1 asks for', () => {
  test('every reference points at something in the document', () => {
    for (const reference of new Set(references)) expect(lookUp(reference), reference).toBeTypeOf('object')
  })

  test('every component is referred to, and its name may stand in a reference', () => {
    for (const kind of ['schemas', 'parameters', 'responses'] as const)
      for (const name of Object.keys(document.components[kind])) {
        expect(references).toContain(`#/components/${kind}/${name}`)
        expect(name).toMatch(/^[a-zA-Z0-9._-]+$/)
      }
  })

  test('operation ids are unique, and every operation stands under a tag that is described', () => {
    const ids = operations.map(({ operation }) => operation.operationId)
    expect(new Set(ids).size).toBe(ids.length)
    const tags = document.tags.map(({ name }) => name)
    for (const { operation } of operations) expect(tags).toEqual(expect.arrayContaining(operation.tags))
    expect(tags).toEqual(Object.keys(headingTitles))
  })

  test('the parameters of a path are declared, required, and no others', () => {
    for (const { path, operation } of operations) {
      const declared = operation.parameters.map(resolved).filter((parameter) => parameter.in === 'path')
      expect(declared.map(({ name }) => name)).toEqual([...path.matchAll(/\{(\w+)\}/g)].map((match) => match[1]))
      for (const { required, schema } of declared) {
        expect(required).toBe(true)
        expect(resolved(schema)).toMatchObject({ type: 'string', pattern: expect.any(String) })
      }
    }
  })

  test('no parameter is declared twice', () => {
    for (const { operation } of operations) {
      const keys = operation.parameters.map(resolved).map((parameter) => `${parameter.in} ${parameter.name}`)
      expect(new Set(keys).size).toBe(keys.length)
    }
  })

  test('every answer has a description and a schema, and the security schemes are known', () => {
    for (const { operation } of operations) {
      for (const [status, given] of Object.entries(operation.responses)) {
        const response = resolved(given)
        expect(response.description).not.toBe('')
        // 304 carries no body.
        expect(response.content?.['application/json']?.schema).toBeTypeOf(status === '304' ? 'undefined' : 'object')
      }
      for (const scheme of operation.security.flatMap((needed) => Object.keys(needed)))
        expect(document.components.securitySchemes).toHaveProperty(scheme)
    }
  })

  test('a schema holds keywords of JSON Schema alone', () => {
    const known =
      'type required properties patternProperties additionalProperties items anyOf enum const pattern description ' +
      'minLength maxLength minimum maximum minItems maxItems uniqueItems minProperties maxProperties default $ref'
    for (const [pointer, object] of objectsIn(document))
      if (typeof object.type === 'string' && !pointer.includes('/securitySchemes/'))
        for (const keyword of Object.keys(object)) expect(known.split(' '), pointer).toContain(keyword)
  })
})

describe('the endpoint table', () => {
  test('every endpoint is an operation, and nothing else is', () => {
    const expected = listEndpoints().map(({ heading, name, endpoint }) => {
      const path = endpoint.path.replace(/:(\w+)/g, '{$1}')
      return `${heading}.${name}: ${endpoint.method.toLowerCase()} ${path}`
    })
    const shown = operations.map(({ path, method, operation }) => `${operation.operationId}: ${method} ${path}`)
    expect(shown.sort()).toEqual(expected.sort())
  })

  test('an operation answers what its endpoint answers, and can refuse by the rules of its kind', () => {
    expect(Object.keys(find('secrets.put').responses)).toEqual('200 201 202 400 401 403 404 409 429 500'.split(' '))
    expect(Object.keys(find('me.get').responses)).toEqual('200 400 401 429 500'.split(' '))
    expect(Object.keys(find('health.live').responses)).toEqual('200 400 429 500'.split(' '))
    expect(Object.keys(find('resolve.get').responses)).toEqual('200 304 400 401 403 404 429 500'.split(' '))
  })

  test('every code that an endpoint lists is named under its status, in the one form', () => {
    // OAuth libraries read refusals of the token endpoint.
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

  test('every mutation names its audit actions, or the reason for none', () => {
    for (const { operation } of operations) {
      const { actions, reason } = operation['x-skerry-audit']
      expect(actions.length > 0).toBe(reason === undefined)
      for (const action of actions) expect(auditActions).toHaveProperty([action])
    }
    expect(find('apps.create')['x-skerry-audit']).toEqual({ actions: ['app.created'] })
  })

  test('who needs a credential is told, and which kinds there are', () => {
    expect(find('apps.list').security).toEqual([{ bearer: [] }, { basic: [] }])
    expect(find('signup.create').security).toEqual([])
    expect(find('oauth.token').security).toEqual([{ basic: [] }, {}])
    expect(find('signIn.refresh').security).toEqual([{ refreshCookie: [] }])
    expect(find('identityLinks.get').security).toEqual([{ identityCookie: [] }])
    expect(find('signIn.redeemLink').security).toEqual([])
  })

  test('an answer with an ETag can be asked for with it', () => {
    const { parameters, responses } = find('resolve.get')
    expect(parameters).toContainEqual(expect.objectContaining({ name: 'If-None-Match', in: 'header', required: false }))
    for (const status of ['200', '304']) expect(responses[status]).toHaveProperty('headers.ETag')
    expect(find('apps.list').responses['200']).not.toHaveProperty('headers')
  })

  test('a body with a required field is required', () => {
    expect(find('apps.create').requestBody?.required).toBe(true)
    expect(find('secrets.delete').requestBody?.required).toBe(false)
    expect(find('apps.delete').requestBody).toBeUndefined()
    expect(Object.keys(find('oauth.token').requestBody?.content ?? {})).toContain('application/x-www-form-urlencoded')
  })
})

describe('named schemas', () => {
  test('no two are alike, for a reference goes to one of them', () => {
    for (const [name, schema] of Object.entries(namedSchemas)) expect(nameOf(schema)).toBe(name)
  })

  test('an optional or nullable property refers to its schema as a plain one does', () => {
    const body = document.components.schemas.CreateEnvironment as { properties: Record<string, unknown> }
    expect(body.properties.recoveryWrappedDek).toEqual({ $ref: '#/components/schemas/WrappedKey' })
    const environment = document.components.schemas.Environment as { properties: Record<string, unknown> }
    expect(environment.properties.expiresAt).toEqual({
      anyOf: [{ $ref: '#/components/schemas/Instant' }, { type: 'null' }],
    })
    expect(document.components.schemas.Role).toEqual({ type: 'string', enum: ['owner', 'admin', 'member'] })
  })

  test('a shape of three fields or more that stands in several places has a name', () => {
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

/** One body in two media types, or one answer under two statuses, is one place. */
const formOf = (pointer: string) => pointer.replace(/\/(?:requestBody|responses\/\d+)\/content\/[^/]+/, '')
