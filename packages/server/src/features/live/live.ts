import { limits } from '@skerry/contract/limits'
import type { live } from '@skerry/contract/live/endpoints'
import { EventStream } from '../../http/event-stream.ts'
import type { In, Out } from '../../http/route.ts'
import type { Principal, UserPrincipal } from '../../kernel/principal.ts'
import type { App } from '../apps/scope.ts'
import { type InOrg, isAdmin } from '../orgs/scope.ts'
import type { LiveContext } from './context.ts'
import { findShownName } from './store.ts'

/** `Last-Event-ID` is not read: missed events are not sent again, and `hello` tells the client to read anew. */
export async function events(input: In<typeof live.events, InOrg, LiveContext>): Out<typeof live.events> {
  const { context, org, principal, role, headers, now } = input
  const begin = await context.live.open({
    orgId: org.id,
    principal,
    isAdmin: isAdmin({ role }),
    endsAtMs: endOf(principal, headers.authorization, Date.parse(now)),
  })
  return new EventStream(begin)
}

type InApp = InOrg & { principal: UserPrincipal; app: App }

export async function look(input: In<typeof live.look, InApp, LiveContext>): Out<typeof live.look> {
  const { context, db, org, app, principal, now } = input
  const name = await findShownName(db, principal.id)
  context.live.look(org.id, app.id, { id: principal.id, name }, Date.parse(now))
  return { ok: true }
}

export async function leave(input: In<typeof live.leave, InApp, LiveContext>): Out<typeof live.leave> {
  const { context, org, app, principal } = input
  context.live.leave(org.id, app.id, principal.id)
  return { ok: true }
}

/**
 * The time at which a stream ends at the latest. A session of an external identity provider has no row that could be
 * checked, so its stream ends with its token.
 */
function endOf(principal: Principal, authorization: string | string[] | undefined, nowMs: number): number {
  const longest = nowMs + limits.liveStreamSeconds * 1000
  if (principal.type !== 'user' || principal.session.id !== null) return longest
  const [, payload = ''] = String(authorization).split('.')
  const { exp }: { exp?: unknown } = JSON.parse(Buffer.from(payload, 'base64url').toString())
  return typeof exp === 'number' ? Math.min(longest, exp * 1000) : longest
}
