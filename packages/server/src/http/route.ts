import type { IncomingMessage } from 'node:http'
import type { AuditAction } from '@skerry/contract/actions'
import type { Answer, Body, Endpoint, Method, PathParam, Query, Unit } from '@skerry/contract/endpoint'
import type { IdKind } from '@skerry/contract/prefixes'
import type { Static } from 'typebox'
import type { Sql, Tx } from '../db/database.ts'
import type { Emit } from '../events/events.ts'
import type { Job } from '../jobs/job.ts'
import type { Sending } from '../jobs/queue.ts'
import type { Entry, Metadata, Origin } from '../kernel/audit.ts'
import type { CommittedRefusal } from '../kernel/errors.ts'
import type { AnyPrincipal, TokenPrincipal } from '../kernel/principal.ts'
import type { Counted } from '../kernel/rate-limits.ts'
import type { Context } from './context.ts'
import type { EventStream } from './event-stream.ts'
import type { HeavyRead } from './heavy-reads.ts'
import type { PrebuiltResponse } from './prebuilt-response.ts'
import type { Streamed } from './streamed.ts'

/** The part of a request that an access check sees. */
export interface Call {
  context: Context
  /**
   * The transaction handle if the endpoint runs in a transaction, so that access and handler share it. The transaction
   * is READ COMMITTED and does not lock the rows that an access check reads. Another request may change or delete such
   * a row before the handler writes. A handler that depends on the row locks it, or checks that its own statement found
   * it.
   */
  db: Sql
  principal: AnyPrincipal | null
  ipAddress: string
  /** The query as sent, unchecked. It is recorded when a request is denied. */
  rawQuery: string
  /** The limiter stores the response headers here. */
  counted: Counted
}

/**
 * Decides whether a call may proceed. It returns the objects that the handler may use, or throws. Every route names an
 * access; there is no default.
 */
export interface Access<Scope, Needs extends string = never> {
  /** The name in the access matrix: words, nested in each other. */
  name: string
  /** The requirement behind each of these words, for the reference. */
  words: Readonly<Record<string, string>>
  resolve: (call: Call, params: Record<Needs, string>) => Promise<Scope>
}

/** An answer with its own status or headers, for endpoints that have several. */
export class Reply<Body> {
  readonly status: number
  readonly body: Body
  readonly headers: Record<string, string>

  constructor(status: number, body: Body, headers: Record<string, string> = {}) {
    this.status = status
    this.body = body
    this.headers = headers
  }
}

interface Request<C> {
  now: string
  principal: AnyPrincipal | null
  origin: Origin
  headers: Record<string, string | string[] | undefined>
  /** The query as sent, for cache keys. */
  rawQuery: string
  newId: (kind: IdKind) => string
  /** True if the caller has hung up or this server is closing. For long polls. */
  isGone: () => boolean
  /** Set for a heavy read: aborts when the caller hangs up. */
  signal?: AbortSignal
  context: C
}

/** The tools of a handler for changes. All changes are committed together, or none is. */
export interface Work<A extends AuditAction = AuditAction> {
  db: Tx
  /** Adds an audit entry about a resource of the type that the row of the action names. */
  audit: (action: A, resourceId: string, metadata?: Metadata, more?: Partial<Pick<Entry, 'orgId' | 'actor'>>) => void
  /** Adds a job, which runs only if the change is committed. */
  enqueue: <Data extends object>(job: Job<Data, never>, data: NoInfer<Data>, sending?: Sending) => Promise<void>
  /**
   * Adds an event for the organization of the path, unless another one is named. Subscribers receive it only if the
   * change is committed.
   */
  emit: Emit
}

export interface UnitInput<A extends AuditAction> {
  read: { db: Sql }
  transaction: Work<A>
  manual: {
    /** Reads outside of any transaction. */
    db: Sql
    /**
     * Opens a short transaction. Between two transactions the handler may call other servers. Inside one such a call
     * throws, because it would hold the locks of the transaction.
     */
    transaction: <T>(work: (work: Work<A>) => Promise<T>) => Promise<T>
    /**
     * Stores what the request signs for the directory, as the last step of the transaction that makes the change. A unit
     * of one transaction does this by itself. Nothing happens for a request that signs nothing.
     */
    sign: (work: Work<A>) => Promise<void>
  }
}

type AuditsOf<E> = E extends { audits: readonly (infer A extends AuditAction)[] } ? A : never

/** The input of a handler: the scope of its access, the parts of the validated request, and what its unit allows. */
export type In<
  E extends Pick<Endpoint, 'unit' | 'query' | 'body'>,
  Scope = object,
  C extends Context = Context,
> = Scope &
  Request<C> &
  UnitInput<AuditsOf<E>>[E['unit']] & {
    params: E extends { path: infer P extends string } ? Record<PathParam<P>, string> : never
    query: Query<E>
    body: Body<E>
  }

export type Out<E extends { responses: Endpoint['responses'] }> = Promise<
  Answer<E> | Reply<Answer<E>> | PrebuiltResponse | Streamed | EventStream | CommittedRefusal
>

/** The input that every handler gets, whatever its route. */
export type AnyInput<C extends Context = Context> = Request<C> &
  UnitInput<AuditAction>[Unit] & {
    params: Record<string, string>
    query: Query<Endpoint>
    body: Body<Endpoint>
  }

/** `C` is the context that the handler needs. In app.ts the compiler checks that the server's context provides it. */
export interface Route<C extends Context = Context> {
  endpoint: Endpoint
  access: Access<object, string>
  handle: (input: AnyInput<C>) => Promise<unknown>
  shortcuts: Shortcuts<unknown, C>
  /** The kind of heavy read, if the route is one. */
  heavy: HeavyRead | undefined
}

/** A route of any kind, for code that does not perform it. */
export type AnyRoute = Route<never>

/** Faster ways to the same answer, tried before the normal path. */
interface Shortcuts<Body, C> {
  fastPath?: FastPath<C>
  batch?: Batch<Body, C>
}

interface Traits<Body, C> extends Shortcuts<Body, C> {
  heavy?: HeavyRead
}

/**
 * Answers a request from memory before anything else runs: no promise, no database handle, no schema check. It does all
 * other work of the normal path (limits, counts). If it returns undefined, the normal path serves the request. It must
 * not throw.
 */
export type FastPath<C> = (
  context: C,
  request: IncomingMessage,
  rawQuery: string,
  counted: Counted,
) => PrebuiltResponse | undefined

/**
 * Makes a change in a statement that it shares with changes of other requests. If it returns undefined, the normal path
 * serves the request, and also finds the reason for a refusal. So the statement only has to detect that there is one.
 * It repeats every check of access and handler in the statement that writes. Only for service tokens whose owner is
 * known from memory.
 */
export type Batch<Body, C> = (input: {
  context: C
  origin: Origin
  token: TokenPrincipal
  tokenHash: string
  params: Record<string, string>
  body: Body
}) => Promise<Reply<unknown> | undefined>

/** One line of a feature's table: endpoint, access, handler. The types reject a line without an access. */
export function route<
  P extends string,
  Q extends Endpoint['query'],
  B extends Endpoint['body'],
  R extends Endpoint['responses'],
  A extends AuditAction,
  M extends Method,
  U extends Unit,
  Scope extends object,
  C extends Context,
>(
  endpoint: Endpoint<P, Q, B, R, A, M, U>,
  access: Access<Scope, PathParam<P>> | Access<Scope, never>,
  handle: (input: In<Endpoint<P, Q, B, R, A, M, U>, Scope, C>) => Out<Endpoint<P, Q, B, R, A, M, U>>,
  { heavy, ...shortcuts }: Traits<Static<B>, C> = {},
): Route<C> {
  // The types of the route have been checked against each other. They are erased here, because `serve` handles many
  // routes.
  return { endpoint, access, handle, shortcuts, heavy } as unknown as Route<C>
}
