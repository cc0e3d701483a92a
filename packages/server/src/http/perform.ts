import type { AuditAction } from '@skerry/contract/actions'
import { type Endpoint, isTrusted, type Unit } from '@skerry/contract/endpoint'
import type { FastifyRequest } from 'fastify'
import type { Sql } from '../db/database.ts'
import { confirmToken } from '../identity/authenticate.ts'
import type { AnyJob } from '../jobs/job.ts'
import { type Origin, transactWithAudit } from '../kernel/audit.ts'
import { instant, newId } from '../kernel/context.ts'
import type { Context } from './context.ts'
import { watchHangUp } from './hang-up.ts'
import type { HeavyRead } from './heavy-reads.ts'
import type { AnyInput, Batch, Route, UnitInput, Work } from './route.ts'
import { Streamed } from './streamed.ts'
import { signing } from './trust.ts'
import type { Checks, Params } from './validate.ts'
import { isAnsweredWhole, isLast, type ListPage, readPage, readWhole } from './whole-lists.ts'

/** Returns the result of a handler: a body, a Reply, or a CommittedRefusal. */
export type Perform = (request: FastifyRequest) => Promise<unknown>

/**
 * Builds the function that serves the requests of a route. The choice is made once, so no request runs steps that only
 * other routes need.
 */
export function performer<C extends Context>(context: C, route: Route<C>, checks: Checks): Perform {
  const { endpoint, shortcuts } = route
  const perform = units[endpoint.unit](context, endpoint, checks, runner(context, route, checks))
  return shortcuts.batch ? share(context, shortcuts.batch, checks, perform) : perform
}

type Run = (request: FastifyRequest, params: Params, unitInput: { db: Sql }) => Promise<unknown>

/**
 * Checks access first, and then the format of query and body: a caller without access learns nothing about the format.
 */
function runner<C extends Context>(context: C, route: Route<C>, checks: Checks): Run {
  const { access, heavy, endpoint } = route
  const handle = isTrusted(endpoint.body) ? signing(context, route) : route.handle
  return async (request, params, unitInput) => {
    const { origin } = request
    const { principal } = origin
    const rawQuery = rawQueryOf(request.url)
    const call = { context, db: unitInput.db, principal, ipAddress: request.ip, rawQuery, counted: origin }
    const scope = await access.resolve(call, params)
    const query = checks.query(request.query)
    const body = checks.body(request.body)
    const input = {
      ...scope,
      ...unitInput,
      context,
      params,
      query,
      body,
      origin,
      principal,
      headers: request.headers,
      rawQuery,
      now: instant(context),
      newId,
      isGone: () => request.raw.socket.destroyed || !request.server.server.listening,
    } as AnyInput<C>
    if (query.limit === undefined && isAnsweredWhole(endpoint)) return handleList(context, route, input, request)
    return heavy ? handleHeavy(context, heavy, handle, input, request) : handle(input)
  }
}

/** Checks access before it reserves a slot for a heavy read, so that a denied request uses none. */
async function handleHeavy<C extends Context>(
  { heavyReads }: Context,
  heavy: HeavyRead,
  handle: Route<C>['handle'],
  input: AnyInput<C>,
  request: FastifyRequest,
): Promise<unknown> {
  const { signal, done } = watchHangUp(request.raw)
  let answer: unknown
  try {
    const owner = input.params.orgId ?? input.principal?.id ?? ''
    answer = await heavyReads.run(heavy, owner, signal, (db) => handle({ ...input, db, signal }))
    return answer
  } finally {
    if (answer instanceof Streamed) answer.body.once('close', done)
    else done()
  }
}

/** Reads a whole list page by page. Only a list of more than one page counts as a heavy read. */
async function handleList<C extends Context>(
  context: Context,
  { handle, heavy }: Route<C>,
  input: AnyInput<C>,
  request: FastifyRequest,
): Promise<unknown> {
  const begin = async (placed: AnyInput<C>) => finish(placed, await readPage(handle, placed))
  const finish = (placed: AnyInput<C>, first: ListPage) => (isLast(first) ? first : readWhole(handle, placed, first))
  if (heavy) return handleHeavy(context, heavy, begin, input, request)
  const first = await readPage(handle, input)
  if (isLast(first)) return first
  return handleHeavy(context, 'search', (placed) => readWhole(handle, placed, first), input, request)
}

/** Runs a route in each kind of unit. */
const units: Record<Unit, (context: Context, endpoint: Endpoint, checks: Checks, run: Run) => Perform> = {
  read: (context, _, checks, run) => (request) => run(request, checks.params(request.params), { db: context.db }),

  transaction: (context, endpoint, checks, run) => async (request) => {
    const params = checks.params(request.params)
    const { identified, origin } = request
    if (identified?.confirmed !== false)
      return transact(context, endpoint, origin, params, (work) => run(request, params, work))
    let isInForce = false
    try {
      return await transact(context, endpoint, origin, params, async (work) => {
        // The check of the token and the handler start together, to share a round trip. A revoked token is still
        // refused first, before any other refusal.
        const both = [confirmToken(context, work.db, identified, origin), run(request, params, work)] as const
        const [confirmed] = await Promise.allSettled(both)
        isInForce = confirmed.status === 'fulfilled'
        const [, answer] = await Promise.all(both)
        return answer
      })
    } finally {
      // A refused request is a use of the token, too. Noted outside the transaction: the embedded database has only one
      // connection, and the transaction has it.
      if (isInForce) context.lastUsed.note(identified.principal, context.now().getTime())
    }
  },

  manual: (context, endpoint, checks, run) => (request) => {
    const params = checks.params(request.params)
    const unitInput: UnitInput<AuditAction>['manual'] = {
      db: context.db,
      transaction: (work) => transact(context, endpoint, request.origin, params, work),
      // A route that takes documents gets another one (trust.ts).
      sign: async () => undefined,
    }
    return run(request, params, unitInput)
  },
}

/** Runs one transaction of a route, with its audit entries and jobs. */
async function transact<T>(
  context: Context,
  { path, audits }: Endpoint,
  origin: Origin,
  params: Params,
  work: (work: Work) => Promise<T>,
): Promise<T> {
  const enqueued: AnyJob[] = []
  const done = await transactWithAudit(context, origin, (db, record) =>
    work({
      db,
      audit: (action, resourceId, metadata = {}, more = {}) => {
        if (!audits.includes(action)) throw new Error(`${path} does not list ${action}`)
        record({ orgId: params.orgId ?? null, action, resourceId, metadata, ...more })
      },
      enqueue: (job, data, sending) => {
        enqueued.push(job)
        return context.queue.enqueue(db, job, data, sending)
      },
      emit: async (type, facts, orgId) => {
        enqueued.push(...(await context.events.emit(db, type, orgId ?? params.orgId ?? null, facts)))
      },
    }),
  )
  for (const job of enqueued) context.queue.nudge(job)
  return done
}

/**
 * Uses the shared statement where it is allowed. Otherwise the normal path checks access before it reports a malformed
 * request.
 */
const share =
  <C extends Context>(context: C, batch: Batch<unknown, C>, checks: Checks, long: Perform): Perform =>
  async (request) => {
    const { origin, identified } = request
    const params = checks.params(request.params)
    if (identified?.confirmed !== false || !isWellFormed(checks, request)) return long(request)
    const { principal: token, tokenHash } = identified
    const shared = await batch({ context, origin, token, tokenHash, params, body: request.body })
    if (shared) context.lastUsed.note(token, context.now().getTime())
    return shared ?? long(request)
  }

function isWellFormed(checks: Checks, request: FastifyRequest): boolean {
  try {
    checks.query(request.query)
    checks.body(request.body)
    return true
  } catch {
    return false
  }
}

export function pathOf(url: string): string {
  const mark = url.indexOf('?')
  return mark < 0 ? url : url.slice(0, mark)
}

export function rawQueryOf(url: string): string {
  const mark = url.indexOf('?')
  return mark < 0 ? '' : url.slice(mark + 1)
}
