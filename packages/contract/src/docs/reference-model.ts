import type { ErrorCode } from '../errors.ts'
import type { Schema } from '../fields.ts'
import { type OpenApiDocument, type OpenApiOperation, openApiDocument, type Parameter } from './openapi.ts'
import { exampleOf } from './reference-examples.ts'
import { referenceTables, type Table } from './reference-tables.ts'
import { type Field, rowsOf } from './reference-words.ts'

/**
 * The server's rules about who may call an operation, as sentences, by method and path: `GET /v1/me`. The contract does
 * not have these rules.
 */
export type AccessRules = ReadonlyMap<string, string>

export interface Operation {
  /** `apps.create`, as in the OpenAPI document. */
  id: string
  method: string
  path: string
  summary: string
  /** Who may call the operation, as sentences. Empty if the server gave no rules. */
  access: string
  /** Empty for a read that records nothing. */
  audit: string
  fields: (Field & { in: 'path' | 'query' | 'header' | 'body' })[]
  answers: { statuses: string; example: string }[]
  refusals: [status: number, codes: ErrorCode[]][]
}

export interface Section {
  anchor: string
  title: string
  operations: Operation[]
}

/** Everything that a reference shows, in any output format. Text in backquotes is code. */
export interface Reference {
  version: string
  conventions: string[]
  sections: Section[]
  tables: Table[]
}

const conventions = [
  'Bodies and answers are JSON in UTF-8, with `content-type: application/json`.',
  'Send the credential in the `Authorization` header. For a machine client, use `Basic` with its id and secret. ' +
    'For every other credential, use `Bearer`.',
  'Each operation says under “Access” who may call it. A caller who does not belong to the organization gets `not_found`.',
  'The server refuses a request with a field or query parameter that the operation does not have.',
  'Operations with long lists have the parameters `limit` (the most rows of one page) and `cursor`. To get the next page, send the `nextCursor` of the answer as `cursor`. On the last page, `nextCursor` is null.',
  'An instant is a time in ISO 8601, in UTC with milliseconds.',
  'Every answer has the header `x-request-id`. With this id, you find the request in the server’s log and in the audit log.',
]

/**
 * Builds the reference as data, from the OpenAPI document and, if given, the access rules.
 *
 * @example reference().sections[0]?.operations[0]?.path // '/health'
 */
export function reference(access: AccessRules = new Map(), document: OpenApiDocument = openApiDocument()): Reference {
  const operations = Object.entries(document.paths).flatMap(([path, item]) =>
    Object.entries(item).map(([method, operation]) => ({ path, method, operation: dereference(operation, document) })),
  )
  const sections = document.tags.map(({ name, description }) => ({
    anchor: name,
    title: description,
    operations: operations
      .filter(({ operation }) => operation.tags.includes(name))
      .map(({ path, method, operation }) => operationOf(method.toUpperCase(), path, operation, access)),
  }))
  return {
    version: document.info.version,
    conventions,
    sections,
    tables: referenceTables(),
  }
}

/** A part of the document with its references resolved. */
type Whole<T> = T extends { $ref: string } ? never : T extends object ? { [K in keyof T]: Whole<T[K]> } : T

/** Replaces each reference with its component. No component contains itself. */
function dereference<T>(value: T, document: OpenApiDocument): Whole<T> {
  if (typeof value !== 'object' || value === null) return value as Whole<T>
  if (Array.isArray(value)) return value.map((one) => dereference(one, document)) as Whole<T>
  if ('$ref' in value) return dereference(lookUp(value.$ref as string, document), document) as Whole<T>
  const entries = Object.entries(value).map(([key, inner]) => [key, dereference(inner, document)])
  return Object.fromEntries(entries) as Whole<T>
}

function lookUp(pointer: string, document: OpenApiDocument): unknown {
  const [, kind, name] = /^#\/components\/(\w+)\/(.+)$/.exec(pointer) ?? []
  const found = (document.components as unknown as Record<string, Record<string, unknown>>)[kind ?? '']?.[name ?? '']
  if (found === undefined) throw new Error(`the OpenAPI document has no ${pointer}`)
  return found
}

function operationOf(
  method: string,
  pathTemplate: string,
  operation: Whole<OpenApiOperation>,
  access: AccessRules,
): Operation {
  const path = pathTemplate.replace(/\{(\w+)\}/g, ':$1')
  const body = operation.requestBody?.content['application/json']?.schema
  return {
    id: operation.operationId,
    method,
    path,
    summary: operation.summary,
    access: access.get(`${method} ${path}`) ?? '',
    audit: auditWords(method, operation['x-skerry-audit']),
    fields: [
      ...operation.parameters.flatMap(parameterFields),
      ...rowsOf((body ?? {}) as Schema).map((field) => ({ ...field, in: 'body' as const })),
    ],
    answers: answersOf(operation),
    refusals: refusalsOf(operation),
  }
}

function auditWords(method: string, { actions, reason }: OpenApiOperation['x-skerry-audit']): string {
  const named = actions.map((action) => `\`${action}\``).join(', ')
  if (method === 'GET') return named && `${named}, if the server refuses the request`
  return reason === undefined ? named : `no entry: ${reason}`
}

function parameterFields({ name, in: place, required, description, schema }: Parameter): Operation['fields'] {
  const described = { ...schema, ...(description !== undefined && { description }) } as Schema
  const fields = rowsOf({ properties: { [name]: described }, required: required ? [name] : [] })
  return fields.map((field) => ({ ...field, in: place }))
}

/** Statuses with the same example are shown together. */
function answersOf({ responses }: Whole<OpenApiOperation>): Operation['answers'] {
  const examples = Object.entries(responses).flatMap(([status, { content, ...rest }]) => {
    const schema = (content?.['application/json'] ?? content?.['text/event-stream'])?.schema
    if (schema === undefined || rest['x-skerry-codes']) return []
    return [{ status, example: JSON.stringify(exampleOf(schema as Schema), null, 2) }]
  })
  return [...Map.groupBy(examples, ({ example }) => example)].map(([example, same]) => ({
    statuses: same.map(({ status }) => status).join(' or '),
    example,
  }))
}

function refusalsOf({ responses }: Whole<OpenApiOperation>): Operation['refusals'] {
  return Object.entries(responses).flatMap(([status, { 'x-skerry-codes': codes }]) =>
    codes ? [[Number(status), [...codes]]] : [],
  )
}
