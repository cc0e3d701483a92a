import type { Context } from '../http/context.ts'
import { describe } from '../http/errors.ts'
import { upsertCliSessionUse, upsertTokenUse } from './store.ts'

/** How exact `lastUsedAt` is. A write for each request would cost more than the request. */
const granularityMs = 60_000
const rememberedMax = 10_000

const notedAt = new WeakMap<Context, Map<string, number>>()

/** Notes that a token was used, at most once a minute each, off the request's path. */
export function noteUse(context: Context, token: { orgId: string; id: string }): void {
  const at = dueAt(context, token.id)
  if (at) report(context, upsertTokenUse(context.db, token, at))
}

/** The same for a CLI session. */
export function noteCliUse(context: Context, sessionId: string): void {
  const at = dueAt(context, sessionId)
  if (at) report(context, upsertCliSessionUse(context.db, sessionId, at))
}

/** The instant to note, if the last one was noted long enough ago. Every request asks, so it comes to nothing quickly. */
function dueAt(context: Context, id: string): string | undefined {
  const now = context.now()
  let noted = notedAt.get(context)
  if (!noted) {
    noted = new Map()
    notedAt.set(context, noted)
  }
  const last = noted.get(id)
  if (last !== undefined && now.getTime() - last < granularityMs) return undefined
  if (noted.size > rememberedMax) noted.clear()
  noted.set(id, now.getTime())
  return now.toISOString()
}

const report = (context: Context, write: Promise<unknown>) =>
  write.catch((error) => context.log.warn('could not note the use of a token', describe(error)))
