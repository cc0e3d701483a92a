import { type TSchema, Type } from 'typebox'
import packageJson from '../../package.json' with { type: 'json' }
import type { Endpoint } from '../endpoint.ts'
import { type endpoints, listEndpoints } from '../endpoints.ts'
import type { ErrorCode } from '../errors.ts'
import { OAuthErrorBody } from '../oauth/schemas.ts'
import { pathParamNames, pathParamRule, pathParams } from '../params.ts'
import { errorMeanings, refusalsOf } from '../refusals.ts'
import { ErrorBody } from '../schema.ts'
import { type JsonSchema, namedSchemas, referTo, spellOut } from './openapi-schemas.ts'

/** The version of the API and of everything in this repository. It is the version of this package. */
const version: string = packageJson.version

/** Titles of the headings, in the order in which documents show them. */
export const headingTitles: Record<keyof typeof endpoints, string> = {
  health: 'Health',
  signup: 'Signup',
  oauth: 'Machine access tokens',
  signIn: 'Sign-in',
  identityLinks: 'Linking a sign-in to an existing person',
  cliLogin: 'CLI sign-in',
  me: 'The caller',
  recoveryKit: 'Recovery kit of the keyring',
  passkeys: 'Passkeys of the keyring',
  secondFactor: 'Second factor',
  signInPasskeys: 'Passkeys for signing in',
  sessions: 'Browser sessions',
  cliSessions: 'CLI sessions',
  notifications: 'Notifications',
  orgs: 'Organizations',
  members: 'Members',
  mfaPolicy: 'Second factor policy',
  invites: 'Invitations',
  ownInvites: 'Your own invitations',
  apps: 'Applications',
  envs: 'Environments',
  rekey: 'Re-key',
  branches: 'Branches',
  groups: 'Groups',
  composition: 'Composition',
  secrets: 'Secrets',
  deletedSecrets: 'Deleted secrets',
  secretDetails: 'Details of secrets',
  overrides: 'Personal overrides',
  protection: 'Protection',
  changes: 'Change requests',
  resolve: 'Resolve',
  directory: 'Signed directory',
  grants: 'Key grants',
  accessRequests: 'Requests for access',
  offboardings: 'Offboarding',
  teams: 'Teams',
  tokens: 'Service tokens',
  machineClients: 'Machine clients',
  honeyTokens: 'Honey tokens',
  kms: 'Managed keys',
  leases: 'Leases',
  recovery: 'Recovery',
  recoveryRequests: 'Recovery requests',
  rotation: 'Rotation',
  sync: 'Third-party sync',
  provisioner: 'Provisioner',
  agents: 'Agents',
  tasks: 'Agent tasks and activity',
  vaultProjects: 'Credential vault: projects',
  vaultWebhooks: 'Credential vault: webhooks',
  vaultPlatform: 'Credential vault: platform',
  vaultConnect: 'Credential vault: Connect page',
  vaultExecutor: 'Credential vault: executor',
  live: 'Live events',
  audit: 'Audit',
  auditProof: 'Audit proof',
  billing: 'Plans and usage',
  logSink: 'Log sink',
  exporting: 'Export',
}

interface Reference {
  $ref: string
}

export interface Parameter {
  name: string
  in: 'path' | 'query' | 'header'
  required: boolean
  description?: string
  schema: JsonSchema
}

type Content = Record<string, { schema: JsonSchema }>

interface Response {
  description: string
  /** The error codes of a refusal, in the order of the error table. */
  'x-skerry-codes'?: readonly ErrorCode[]
  headers?: Record<string, { description: string; schema: JsonSchema }>
  content?: Content
}

/** The audit actions that an operation writes, or the reason why it writes none. */
interface AuditNote {
  actions: readonly string[]
  reason?: string
}

export interface OpenApiOperation {
  operationId: string
  tags: string[]
  summary: string
  parameters: (Parameter | Reference)[]
  requestBody?: { required: boolean; content: Content }
  responses: Record<string, Response | Reference>
  security: Record<string, string[]>[]
  'x-skerry-audit': AuditNote
}

export interface OpenApiDocument {
  openapi: '3.1.0'
  info: { title: string; version: string; description: string; license: { name: string; identifier: string } }
  tags: { name: string; description: string }[]
  paths: Record<string, Record<string, OpenApiOperation>>
  components: {
    schemas: Record<string, JsonSchema>
    parameters: Record<string, Parameter>
    responses: Record<string, Response>
    securitySchemes: Record<string, SecurityScheme>
  }
}

const securitySchemes = {
  bearer: {
    type: 'http',
    scheme: 'bearer',
    description:
      'A service token (`skt_...`), a person’s session JWT or CLI session (`skc_...`), or a machine client’s access ' +
      'token (`skm_...`)',
  },
  basic: { type: 'http', scheme: 'basic', description: 'A machine client: its id and its secret' },
  vaultPlatformKey: { type: 'http', scheme: 'bearer', description: 'A platform key of a vault project (`skv_...`)' },
  vaultExecutor: { type: 'http', scheme: 'bearer', description: 'The credential of a vault executor (`skx_...`)' },
  vaultClaim: {
    type: 'http',
    scheme: 'bearer',
    description: 'The claim token that a browser got for a Connect link (`vcl_...`). It is valid for 30 minutes',
  },
  refreshCookie: {
    type: 'apiKey',
    in: 'cookie',
    name: 'skerry',
    description: 'The cookie that a sign-in sets. Over TLS, its name is `__Host-skerry`',
  },
  identityCookie: {
    type: 'apiKey',
    in: 'cookie',
    name: 'skerry-identity',
    description:
      'The cookie of a sign-in at the external identity provider that waits for the person’s confirmation. Over TLS, its name is `__Host-skerry-identity`',
  },
} as const

type SecurityScheme = (typeof securitySchemes)[keyof typeof securitySchemes]

/**
 * Builds the OpenAPI 3.1 document of the whole API from the endpoint table.
 *
 * @example openApiDocument().paths['/v1/orgs/{orgId}']?.get?.operationId // 'orgs.get'
 */
export function openApiDocument(): OpenApiDocument {
  const paths: OpenApiDocument['paths'] = {}
  const responses: Record<string, Response> = {}
  for (const { heading, name, endpoint } of listEndpoints()) {
    const path = endpoint.path.replace(/:(\w+)/g, '{$1}')
    paths[path] = { ...paths[path], [endpoint.method.toLowerCase()]: operationOf(heading, name, endpoint) }
    for (const [status, codes] of refusalsOf(endpoint)) responses[refusalName(codes)] ??= refusalOf(status, codes)
  }
  return {
    openapi: '3.1.0',
    info: {
      title: 'Skerry',
      version,
      description:
        'Skerry is a control plane for secrets. Clients encrypt and decrypt, and the server stores only ciphertext. ' +
        'Every body is JSON. Every error has the form of `ErrorBody`, except errors of `/oauth/token`.',
      license: { name: 'Apache License 2.0', identifier: 'Apache-2.0' },
    },
    tags: Object.entries(headingTitles).map(([name, description]) => ({ name, description })),
    paths,
    components: {
      schemas: Object.fromEntries(Object.entries(namedSchemas).map(([name, schema]) => [name, spellOut(schema)])),
      parameters: Object.fromEntries(Object.keys(pathParams).map((name) => [name, pathParameter(name)])),
      responses,
      securitySchemes,
    },
  }
}

function operationOf(heading: string, name: string, endpoint: Endpoint): OpenApiOperation {
  const requestBody = requestBodyOf(endpoint)
  return {
    operationId: `${heading}.${name}`,
    tags: [heading],
    summary: endpoint.summary,
    parameters: [...pathParameters(endpoint), ...queryParameters(endpoint), ...headerParameters(endpoint)],
    ...(requestBody && { requestBody }),
    responses: responsesOf(endpoint),
    security: securityOf(endpoint),
    'x-skerry-audit': auditOf(endpoint),
  }
}

function pathParameters({ path }: Endpoint): Reference[] {
  return pathParamNames(path).map((name) => {
    pathParamRule(path, name)
    return { $ref: `#/components/parameters/${name}` }
  })
}

const pathParameter = (name: string): Parameter => ({
  name,
  in: 'path',
  required: true,
  schema: referTo(pathParams[name]?.schema),
})

function queryParameters({ query }: Endpoint): Parameter[] {
  const required = new Set(query.required ?? [])
  return Object.entries(query.properties).map(([name, schema]) => parameter(name, 'query', schema, required.has(name)))
}

function parameter(name: string, place: 'query' | 'header', schema: TSchema, required = false): Parameter {
  const { description, ...rest } = referTo(schema)
  return {
    name,
    in: place,
    required,
    ...(description === undefined ? {} : { description: String(description) }),
    schema: rest,
  }
}

const headerParameters = ({ headers, tagged }: Endpoint): Parameter[] => [
  ...Object.entries(headers).map(([name, schema]) => parameter(name, 'header', schema)),
  ...(tagged
    ? [
        parameter(
          'If-None-Match',
          'header',
          Type.String({
            description: 'The ETag of an earlier answer. If nothing has changed since then, the answer is 304',
          }),
        ),
      ]
    : []),
]

/**
 * RFC 6749 sections 2.3.1 and 3.2: OAuth libraries send a form. A machine client’s credentials are in the header or in
 * the form.
 */
const isTokenEndpoint = ({ path }: Endpoint): boolean => path === '/oauth/token'

function requestBodyOf(endpoint: Endpoint): OpenApiOperation['requestBody'] {
  const { body } = endpoint
  if (Object.keys(body.properties).length === 0) return undefined
  const schema = referTo(body)
  return {
    required: (body.required ?? []).length > 0,
    content: {
      'application/json': { schema },
      ...(isTokenEndpoint(endpoint) && { 'application/x-www-form-urlencoded': { schema } }),
    },
  }
}

const json = (schema: unknown): Content => ({ 'application/json': { schema: referTo(schema) } })

function responsesOf(endpoint: Endpoint): OpenApiOperation['responses'] {
  const answers = Object.entries(endpoint.responses).map(([status, schema]): [string, Response] => [
    status,
    {
      description:
        status === '201'
          ? 'Created'
          : status === '202'
            ? 'The environment is protected, so the change waits for approval'
            : 'Done',
      ...(endpoint.tagged && { headers: etag }),
      content: { [endpoint.mediaType]: { schema: referTo(schema) } },
    },
  ])
  const refusals = [...refusalsOf(endpoint)].map(([status, codes]): [string, Reference | Response] => [
    String(status),
    isTokenEndpoint(endpoint)
      ? { ...refusalOf(status, codes), content: json(OAuthErrorBody) }
      : { $ref: `#/components/responses/${refusalName(codes)}` },
  ])
  const unchanged: [string, Response][] = endpoint.tagged
    ? [['304', { description: 'The answer has not changed since the ETag in `If-None-Match`', headers: etag }]]
    : []
  return Object.fromEntries([...answers, ...unchanged, ...refusals])
}

const etag = {
  ETag: {
    description: 'Send this value in `If-None-Match` to get 304 if nothing has changed',
    schema: { type: 'string' },
  },
}

const refusalName = (codes: ErrorCode[]) => codes.join('.')

function refusalOf(status: number, codes: ErrorCode[]): Response {
  const description = codes.map((code) => `\`${code}\`: ${errorMeanings[code]}.`).join(' ')
  const headers = status === 429 && { headers: limitHeaders }
  return { description, 'x-skerry-codes': codes, ...headers, content: json(ErrorBody) }
}

/** Every answer that a limit counted has the last two headers. The document shows them where a client can use them. */
const limitHeaders = {
  'Retry-After': { description: 'Seconds to wait', schema: { type: 'integer', minimum: 1 } },
  'RateLimit-Policy': {
    description:
      'The limit for this caller: at most `q` requests at once. After `w` seconds without a request, the caller can send `q` requests again',
    schema: { type: 'string' },
  },
  RateLimit: {
    description:
      'The caller can send `r` more requests now. After `t` seconds without a request, the caller can send as many as `RateLimit-Policy` allows',
    schema: { type: 'string' },
  },
}

const vaultSchemes = { platform: 'vaultPlatformKey', executor: 'vaultExecutor', claim: 'vaultClaim' } as const

const takesRefreshCookie = new Set(['/v1/sign-in/refresh', '/v1/sign-in/sign-out'])
const takesIdentityCookie = /^\/v1\/sign-in\/identity-link(\/|$)/

/** The other open operations take their proof, if they need one, in the body. */
function securityOf(endpoint: Endpoint): OpenApiOperation['security'] {
  if (endpoint.surface === 'principal') return [{ bearer: [] }, { basic: [] }]
  if (endpoint.surface !== 'none') return [{ [vaultSchemes[endpoint.surface]]: [] }]
  if (isTokenEndpoint(endpoint)) return [{ basic: [] }, {}]
  if (takesIdentityCookie.test(endpoint.path)) return [{ identityCookie: [] }]
  return takesRefreshCookie.has(endpoint.path) ? [{ refreshCookie: [] }] : []
}

/**
 * The audit actions of an operation, or the reason for none.
 *
 * @example auditOf(apps.create) // { actions: ['app.created'] }
 */
function auditOf({ audits, unaudited }: Endpoint): AuditNote {
  // The type of mutations requires one or the other, so an operation with neither is a read.
  return audits.length > 0 ? { actions: audits } : { actions: [], reason: unaudited ?? 'a read changes nothing' }
}
