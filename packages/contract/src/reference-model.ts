import type { Endpoint } from './endpoint.ts'
import { listEndpoints } from './endpoints.ts'
import type { ErrorCode } from './errors.ts'
import { auditOf, headingTitles, version } from './openapi.ts'
import { pathParamNames, pathParamRule } from './params.ts'
import { exampleOf } from './reference-examples.ts'
import { referenceTables, type Table } from './reference-tables.ts'
import { type Field, fieldsOf, type Schema } from './reference-words.ts'
import { refusalsOf } from './refusals.ts'

/** What a server knows of who may call what; the contract does not. */
export interface AccessFacts {
  /** The name of the access of each operation, by method and path: `GET /v1/me`. */
  names: ReadonlyMap<string, string>
  /** What the words mean that those names are made of. */
  words: Readonly<Record<string, string>>
}

export interface Operation {
  /** `apps.create`, as in the OpenAPI document. */
  id: string
  method: string
  path: string
  summary: string
  /** Empty where nobody said. */
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

/** Everything that a reference shows, whatever it is written in. Text in backquotes is code. */
export interface Reference {
  version: string
  conventions: string[]
  sections: Section[]
  tables: Table[]
}

const conventions = [
  'Bodies and answers are JSON in UTF-8; `content-type: application/json`.',
  'A credential goes into the `Authorization` header: `Bearer` with a service token, a session JWT, a CLI session or an access token; ' +
    '`Basic` with the id and secret of a machine client.',
  'A field or query parameter that an operation does not name is refused, never ignored.',
  'Lists that can grow take `limit` and `cursor`; `nextCursor` of one page is the `cursor` of the next, and null at the end.',
  'An instant is ISO 8601 in UTC with milliseconds.',
  'Every answer carries `x-request-id`, under which the server’s log and the audit trail have the request.',
]

const noAccess: AccessFacts = { names: new Map(), words: {} }

/**
 * The reference as data, from the endpoint table and, where given, the names of who may call.
 *
 * @example reference().sections[0]?.operations[0]?.path // '/health'
 */
export function reference(access: AccessFacts = noAccess): Reference {
  const operations = listEndpoints()
  const sections = Object.entries(headingTitles).map(([heading, title]) => ({
    anchor: heading,
    title,
    operations: operations
      .filter((row) => row.heading === heading)
      .map(({ name, endpoint }) => operationOf(`${heading}.${name}`, endpoint, access)),
  }))
  return { version, conventions, sections, tables: [...accessTable(access), ...referenceTables()] }
}

function accessTable({ words }: AccessFacts): Table[] {
  const rows = Object.entries(words).map(([word, meaning]) => [`\`${word}\``, meaning])
  if (rows.length === 0) return []
  const about =
    'Who may call is written as a word, or as one around another: each narrows what stands inside it. Whatever lies in ' +
    'an organization that the caller does not belong to is not found.'
  return [{ anchor: 'access', title: 'Access', about, columns: ['Word', 'Asks for'], rows }]
}

function operationOf(id: string, endpoint: Endpoint, access: AccessFacts): Operation {
  const { method, path, summary } = endpoint
  return {
    id,
    method,
    path,
    summary,
    access: access.names.get(`${method} ${path}`) ?? '',
    audit: auditWords(endpoint),
    fields: [
      ...pathFields(path),
      ...fieldsOf(endpoint.query as Schema).map((field) => ({ ...field, in: 'query' as const })),
      ...fieldsOf({ properties: endpoint.headers as Record<string, Schema> }).map((field) => ({
        ...field,
        in: 'header' as const,
      })),
      ...fieldsOf(endpoint.body as Schema).map((field) => ({ ...field, in: 'body' as const })),
    ],
    answers: answersOf(endpoint),
    refusals: [...refusalsOf(endpoint)],
  }
}

function auditWords(endpoint: Endpoint): string {
  const { actions, reason } = auditOf(endpoint)
  const named = actions.map((action) => `\`${action}\``).join(', ')
  if (endpoint.method === 'GET') return named && `${named}, when it is denied`
  return reason === undefined ? named : `none: ${reason}`
}

function pathFields(path: string): Operation['fields'] {
  return pathParamNames(path).flatMap((name) => {
    const { schema } = pathParamRule(path, name)
    const fields = fieldsOf({ properties: { [name]: schema as Schema }, required: [name] })
    return fields.map((field) => ({ ...field, in: 'path' as const }))
  })
}

/** Statuses that carry the same shape are told together. */
function answersOf({ responses }: Endpoint): Operation['answers'] {
  const examples = Object.entries(responses).map(([status, schema]) => ({
    status,
    example: JSON.stringify(exampleOf(schema as Schema), null, 2),
  }))
  return [...Map.groupBy(examples, ({ example }) => example)].map(([example, same]) => ({
    statuses: same.map(({ status }) => status).join(' or '),
    example,
  }))
}
