import type { Endpoint } from '@skerry/contract/endpoint'
import type { FastifyRequest } from 'fastify'
import { confirmToken } from '../identity/authenticate.ts'
import type { AnyJob } from '../jobs/job.ts'
import { type Context, instant, newId } from '../kernel/context.ts'
import { unit } from '../kernel/unit.ts'
import type { AnyInput, Batch, Route } from './route.ts'
import type { Checks, Params } from './validate.ts'

/** Gives what a handler gives: a body, a Reply, or a Refusal that keeps what was written. */
export type Perform = (request: FastifyRequest) => Promise<unknown>

/** What a route does with a request, chosen once: none runs through what only other routes have a use for. */
export function performer(context: Context, route: Route, checks: Checks): Perform {
  const { endpoint, shortcuts } = route
  const run = runner(context, route, checks)
  const perform = endpoint.method === 'GET' ? read(context, checks, run) : change(context, endpoint, checks, run)
  return shortcuts.batch ? share(context, shortcuts.batch, checks, perform) : perform
}

type Run = (request: FastifyRequest, params: Params, means: Means) => Promise<unknown>
type Means = Pick<AnyInput, 'db' | 'audit' | 'enqueue' | 'emit'>

/** Access first, then the form of query and body: who may not do a thing learns nothing about how it is done. */
const runner =
  (context: Context, { access, handle }: Route, checks: Checks): Run =>
  async (request, params, means) => {
    const { origin } = request
    const { principal } = origin
    const scope = await access.resolve({ context, db: means.db, principal, ipAddress: request.ip }, params)
    const query = checks.query(request.query)
    const body = checks.body(request.body)
    return handle({
      ...scope,
      ...means,
      context,
      params,
      query,
      body,
      origin,
      principal,
      headers: request.headers,
      rawQuery: rawQueryOf(request.url),
      now: instant(context),
      newId,
    })
  }

const read =
  (context: Context, checks: Checks, run: Run): Perform =>
  async (request) =>
    run(request, checks.params(request.params), { db: context.db, ...changesNothing })

const changesNothing = {
  audit: () => {
    throw new Error('a read records nothing but its denial')
  },
  enqueue: () => {
    throw new Error('a read has no transaction to put a job into')
  },
  emit: () => {
    throw new Error('a read changes nothing that others could be told of')
  },
}

/** One unit of work, of which the handler's audit entries and jobs are part. */
const change =
  (context: Context, { path, audits }: Endpoint, checks: Checks, run: Run): Perform =>
  async (request) => {
    const { origin } = request
    const params = checks.params(request.params)
    const enqueued: AnyJob[] = []
    const done = await unit(context, origin, async (db, record) => {
      const means: Means = {
        db,
        audit: (action, resourceId, metadata = {}, more = {}) => {
          if (!audits.includes(action)) throw new Error(`${path} does not list ${action}`)
          record({ orgId: params.orgId ?? null, action, resourceId, metadata, ...more })
        },
        enqueue: (job, data) => {
          enqueued.push(job)
          return context.queue.enqueue(db, job, data)
        },
        emit: async (type, facts) => {
          enqueued.push(...(await context.events.emit(db, type, params.orgId ?? null, facts)))
        },
      }
      // Sent together, so that both share a round trip; and the token is refused first, whatever else would be refused sooner.
      const both = [confirmToken(context, db, origin), run(request, params, means)] as const
      await Promise.allSettled(both)
      const [, answer] = await Promise.all(both)
      return answer
    })
    for (const job of enqueued) context.queue.nudge(job)
    return done
  }

/** The shared statement where it may serve, else the long way, which asks first who may know what is malformed. */
const share =
  (context: Context, together: Batch<unknown>, checks: Checks, long: Perform): Perform =>
  async (request) => {
    const { origin } = request
    const { principal: token, unconfirmed: tokenHash } = origin
    const params = checks.params(request.params)
    if (tokenHash === undefined || token?.type !== 'service_token' || !isWellFormed(checks, request)) {
      return long(request)
    }
    const shared = await together({ context, origin, token, tokenHash, params, body: request.body })
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
