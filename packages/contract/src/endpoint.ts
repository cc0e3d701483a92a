import { type Static, type TObject, type TProperties, type TSchema, Type } from 'typebox'
import type { AuditAction } from './actions.ts'
import { signedActions } from './directory/actions.ts'
import type { ErrorCode } from './errors.ts'
import { limits } from './limits.ts'

/** The names of a path's parameters: `'/v1/orgs/:orgId'` gives `'orgId'`. */
export type PathParam<P extends string> = P extends `${string}:${infer K}/${infer Rest}`
  ? K | PathParam<`/${Rest}`>
  : P extends `${string}:${infer K}`
    ? K
    : never

export type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'

/**
 * The kind of a call. A `read` changes nothing. The server stores a `transaction` as a whole or not at all, and may run
 * it again after a deadlock. A `manual` call contacts an external system. The server opens short transactions before
 * and after this contact.
 */
export type Unit = 'read' | 'transaction' | 'manual'

/**
 * The credentials that an operation of the API accepts. `none`: the operation needs no bearer. `principal`: the
 * credential of a person, a service token or a machine client. The other three are credentials of the vault: `platform`
 * is an API key, `executor` belongs to the vault executor, and `claim` belongs to a link to the Connect page.
 */
export type Surface = 'none' | 'principal' | 'platform' | 'executor' | 'claim'

type Empty = TObject<Record<never, never>>
const empty: Empty = Type.Object({}, { additionalProperties: false })

/** The success statuses of an endpoint. Each status has the schema of its response body. */
export type Responses = { [Status in 200 | 201 | 202]?: TSchema }

/**
 * The description of one operation of the API, that is, of one kind of request. The server, the SDK, the OpenAPI
 * document and the reference of the API all follow this description.
 *
 * An endpoint that changes data names the audit actions that it writes (`audits`), or says why it writes none
 * (`unaudited`).
 */
export interface Endpoint<
  P extends string = string,
  Q extends TObject<TProperties> = TObject<TProperties>,
  B extends TObject<TProperties> = TObject<TProperties>,
  R extends Responses = Responses,
  A extends AuditAction = AuditAction,
  M extends Method = Method,
  U extends Unit = Unit,
> {
  method: M
  path: P
  unit: U
  summary: string
  query: Q
  body: B
  /** Request headers that only this endpoint reads, all optional, by name. */
  headers: Readonly<Record<string, TSchema>>
  responses: R
  /** The error codes of this endpoint, without common codes such as `unauthorized`. */
  refuses: readonly ErrorCode[]
  audits: readonly A[]
  /** The reason why an endpoint that changes data writes no audit entry. */
  unaudited?: string
  surface: Surface
  /**
   * True if responses have an ETag. If you send this ETag in `If-None-Match` and nothing has changed, the server
   * answers 304.
   */
  tagged: boolean
  /** The longest request body that the endpoint accepts, in bytes. */
  bodyBytes: number
  /**
   * The form of the responses. A stream of events (`text/event-stream`) ends when the caller disconnects, or is no
   * longer allowed to read the stream.
   */
  mediaType: MediaType
}

type MediaType = 'application/json' | 'text/event-stream'

/**
 * The parts of an endpoint that a client needs to call it. Their types come from the endpoint, without the schemas
 * behind them.
 */
export type Operation = Readonly<Pick<Endpoint, 'method' | 'path' | 'surface'>>

interface Shape<Q, B, R, A> {
  summary: string
  query?: Q
  body?: B
  headers?: Readonly<Record<string, TSchema>>
  responses: R
  refuses?: readonly ErrorCode[]
  audits?: readonly A[]
  unaudited?: string
  unit?: Unit
  surface?: Surface
  tagged?: boolean
  bodyBytes?: number
  mediaType?: MediaType
}

/** The shape of an endpoint that may write. It must answer the question of audit. */
type Mutation<Q, B, R, A, U> = Shape<Q, B, R, A> & { unit?: U } & (
    | { audits: readonly [A, ...A[]] }
    | { unaudited: string }
  )

function endpoint(method: Method, path: string, shape: Shape<TObject, TObject, Responses, AuditAction>): Endpoint {
  const surface = shape.surface ?? 'principal'
  const isSigned = isTrusted(shape.body)
  return {
    method,
    path,
    unit: shape.unit ?? (method === 'GET' ? 'read' : 'transaction'),
    surface,
    summary: shape.summary,
    query: shape.query ?? empty,
    body: shape.body ?? empty,
    headers: shape.headers ?? {},
    responses: shape.responses,
    refuses: [...new Set([...(shape.refuses ?? []), ...(isSigned ? (['conflict'] as const) : [])])],
    audits: [...(shape.audits ?? []), ...(isSigned ? signedActions : [])],
    tagged: shape.tagged ?? false,
    mediaType: shape.mediaType ?? 'application/json',
    bodyBytes: shape.bodyBytes ?? (surface === 'none' ? limits.openBodyBytes : limits.bodyBytes),
    ...(shape.unaudited === undefined ? {} : { unaudited: shape.unaudited }),
  }
}

/** Whether the body may carry entries of the signed directory, which the server stores together with the change. */
export const isTrusted = (body: TObject | undefined): boolean => body !== undefined && 'trust' in body.properties

const mutation =
  <M extends Exclude<Method, 'GET'>>(method: M) =>
  <
    const P extends string,
    const R extends Responses,
    Q extends TObject = Empty,
    B extends TObject = Empty,
    const A extends AuditAction = never,
    const U extends 'transaction' | 'manual' = 'transaction',
  >(
    path: P,
    shape: Mutation<Q, B, R, A, U>,
  ) =>
    endpoint(method, path, shape as Shape<TObject, TObject, Responses, AuditAction>) as Endpoint<P, Q, B, R, A, M, U>

interface Get {
  <const P extends string, const R extends Responses, Q extends TObject = Empty, const A extends AuditAction = never>(
    path: P,
    shape: Shape<Q, Empty, R, A> & { unit?: 'read' },
  ): Endpoint<P, Q, Empty, R, A, 'GET', 'read'>
  <
    const P extends string,
    const R extends Responses,
    const U extends 'transaction' | 'manual',
    Q extends TObject = Empty,
    const A extends AuditAction = never,
  >(
    path: P,
    shape: Mutation<Q, Empty, R, A, U> & { unit: U },
  ): Endpoint<P, Q, Empty, R, A, 'GET', U>
}

/**
 * Declares a read. A read may still leave an audit entry when it is denied. A GET that also writes something, such as a
 * key pair on its first use, names its unit, and then also its audit actions or why it has none.
 *
 * @example get('/v1/orgs/:orgId/apps', { summary: 'List applications', responses: { 200: Type.Object({}) } })
 */
export const get: Get = (path: string, shape: object) =>
  endpoint('GET', path, shape as Shape<TObject, TObject, Responses, AuditAction>) as never

export const post = mutation('POST')
export const put = mutation('PUT')
export const patch = mutation('PATCH')
export const del = mutation('DELETE')

export type Params<E> = E extends Endpoint<infer P> ? Record<PathParam<P>, string> : never
export type Query<E extends { query: TObject }> = Static<E['query']>
export type Body<E extends { body: TObject }> = Static<E['body']>
/** The body of a successful response of an endpoint. */
export type Answer<E extends { responses: Responses }> = {
  [S in keyof E['responses']]: E['responses'][S] extends TSchema ? Static<E['responses'][S]> : never
}[keyof E['responses']]
