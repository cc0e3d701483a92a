import type { Context } from '../http/context.ts'
import { describe } from '../http/errors.ts'
import { upsertTokenUse } from './store.ts'

/** How exact `lastUsedAt` is. A write for each request would cost more than the request. */
const granularityMs = 60_000
const rememberedMax = 10_000

const notedAt = new WeakMap<Context, Map<string, number>>()

/** Notes that a token was used, at most once a minute each, off the request's path. */
export function noteUse(context: Context, token: { orgId: string; id: string }): void {
  const now = context.now()
  const noted = notedAt.get(context) ?? new Map<string, number>()
  notedAt.set(context, noted)
  if (noted.size > rememberedMax) noted.clear()
  const last = noted.get(token.id)
  if (last !== undefined && now.getTime() - last < granularityMs) return
  noted.set(token.id, now.getTime())
  upsertTokenUse(context.db, token, now.toISOString()).catch((error) =>
    context.log.warn('could not note the use of a token', describe(error)),
  )
}
