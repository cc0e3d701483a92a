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
import type { HeavyRead } from './heavy-reads.ts'
import type { PrebuiltResponse } from './prebuilt-response.ts'
import type { Streamed } from './streamed.ts'

/** What an access sees of a request. */
export interface Call {
  context: Context
  /**
   * The handle of the transaction where the endpoint has one, so that access and handler read and write in the same one. The
   * transaction reads committed rows and locks none that an access reads: another request may change or delete such a row
   * before the handler writes. A handler that depends on the row locks it, or looks whether its own statement found it.
   */
  db: Sql
  principal: AnyPrincipal | null
  ipAddress: string
  /** As it was sent, not yet checked: for what is recorded of a refusal. */
  rawQuery: string
  /** Where a limit says what the answer will tell of it. */
  counted: Counted
}

/**
 * Decides whether a call may proceed, and gives the handler what it may touch, or throws. Every route names one; there
 * is no default.
 */
export interface Access<Scope, Needs extends string = never> {
  /** What the access matrix shows: words, one inside of another. */
  name: string
  /** What each of these words asks of a caller, for readers of the reference. */
  words: Readonly<Record<string, string>>
  resolve: (call: Call, params: Record<Needs, string>) => Promise<Scope>
}

/** An answer with a status or headers of its own, where an endpoint has several. */
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
  /** The query as it was sent, for keys of caches. */
  rawQuery: string
  newId: (kind: IdKind) => string
  /** Whether nobody waits for the answer any more: the caller has hung up, or this server is closing. For long polls. */
  isGone: () => boolean
  /** For a heavy read: aborts when the caller hangs up. */
  signal?: AbortSignal
  context: C
}

/** What a handler changes things with: all of it is committed together, or nothing is. */
export interface Work<A extends AuditAction = AuditAction> {
  db: Tx
  /** Adds an entry, about a resource of the type that the action's row names. */
  audit: (action: A, resourceId: string, metadata?: Metadata, more?: Partial<Pick<Entry, 'orgId' | 'actor'>>) => void
  /** Adds a job: it will run if, and only if, the change is committed. */
  enqueue: <Data extends object>(job: Job<Data, never>, data: NoInfer<Data>, sending?: Sending) => Promise<void>
  /** Adds an event of the path's organization, unless another is named: subscribers are told if, and only if, the change is committed. */
  emit: Emit
}

export interface UnitInput<A extends AuditAction> {
  read: { db: Sql }
  transaction: Work<A>
  manual: {
    /** For reads outside of any transaction. */
    db: Sql
    /**
     * Opens a short transaction. Between two of them the handler may call outside; inside of one it cannot: the call
     * would hold its locks, and throws.
     */
    transaction: <T>(work: (work: Work<A>) => Promise<T>) => Promise<T>
  }
}

type AuditsOf<E> = E extends { audits: readonly (infer A extends AuditAction)[] } ? A : never

/** What a handler is given: the scope of its access, the parts of a validated request, and what its unit allows. */
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
  Answer<E> | Reply<Answer<E>> | PrebuiltResponse | Streamed | CommittedRefusal
>

/** What every handler is given, whatever its route. */
export type AnyInput<C extends Context = Context> = Request<C> &
  UnitInput<AuditAction>[Unit] & {
    params: Record<string, string>
    query: Query<Endpoint>
    body: Body<Endpoint>
  }

/** `C` is the context that its handler works with. In app.ts the compiler checks that the server's context is one. */
export interface Route<C extends Context = Context> {
  endpoint: Endpoint
  access: Access<object, string>
  handle: (input: AnyInput<C>) => Promise<unknown>
  shortcuts: Shortcuts<unknown, C>
  /** What kind of heavy read it is, where it is one. */
  heavy: HeavyRead | undefined
}

/** A route of any kind, for those who do not perform it. */
export type AnyRoute = Route<never>

/** Faster ways to the same answer, tried before the long one. */
interface Shortcuts<Body, C> {
  fastPath?: FastPath<C>
  batch?: Batch<Body, C>
}

interface Traits<Body, C> extends Shortcuts<Body, C> {
  heavy?: HeavyRead
}

/**
 * Asked before anything else, for answers that need no look-up: no promise, no handle, no check of the form. It does all
 * else that the long way does (limits, counts), or gives undefined and leaves the request to it. It must not throw.
 */
export type FastPath<C> = (
  context: C,
  request: IncomingMessage,
  rawQuery: string,
  counted: Counted,
) => PrebuiltResponse | undefined

/**
 * Makes a change in a statement that it shares with changes of other requests, or gives undefined and leaves the request to
 * the long way, which also says what stands against it. So it only has to notice that something does: it checks all that
 * access and handler check, in the statement that writes. For service tokens whose holder is known from memory.
 */
export type Batch<Body, C> = (input: {
  context: C
  origin: Origin
  token: TokenPrincipal
  tokenHash: string
  params: Record<string, string>
  body: Body
}) => Promise<Reply<unknown> | undefined>

/** One line of a feature's table: endpoint, access, handler. The types refuse a line without an access. */
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
  // Here, where they have been checked against each other, the types of one route are forgotten: `serve` has many.
  return { endpoint, access, handle, shortcuts, heavy } as unknown as Route<C>
}
