import { limits } from '@skerry/contract/limits'
import type { SignedIn } from '@skerry/contract/sign-in/schemas'
import type { Static } from 'typebox'
import type { Tx } from '../db/database.ts'
import type { Origin } from '../kernel/audit.ts'
import { instant, newId, newSecret, sha256 } from '../kernel/context.ts'
import { fail } from '../kernel/errors.ts'
import type { UserPrincipal } from '../kernel/principal.ts'
import type { ServerKey } from '../keys/server-key.ts'
import { type Audit, auditUser } from './audit-user.ts'
import type { IdentityContext } from './context.ts'
import { cookieLine } from './cookies.ts'
import { findSession, insertRefreshToken, insertSession } from './session-store.ts'
import { ownIssuer } from './session-tokens.ts'

/** Throws without a server key, because nothing could be signed or sealed. */
export function needServerKey({ serverKey }: IdentityContext): ServerKey {
  if (serverKey) return serverKey
  throw fail('conflict', 'this server has no server key: its operator must set SKERRY_SERVER_KEY')
}

/** Returns the issuer of people’s identities on this server: an external identity provider, or Skerry. */
export const issuerOf = ({ oidc }: IdentityContext): string => oidc?.issuer ?? ownIssuer

/** Finds the person of one of our own session tokens while the session is valid. */
export async function sessionUser(context: IdentityContext, jwt: string): Promise<UserPrincipal> {
  const { sessionId, userId } = await context.sessionTokens.verify(context.db.lookups, jwt)
  const found = await findSession(context.db.lookups, sessionId, userId, issuerOf(context), instant(context))
  if (!found) throw fail('unauthorized', 'session token refused')
  return { type: 'user', id: userId, session: { kind: 'browser', id: sessionId, ...found } }
}

interface Work {
  db: Tx
  context: IdentityContext
  now: string
}

type Answer = Static<typeof SignedIn>

/**
 * The second factor as the identity provider reports it; `issuerSecondFactor` is null if Skerry manages second factors.
 */
export interface Factors {
  mfaAt: string | null
  issuerSecondFactor: boolean | null
}

/** Starts a session of this browser. Returns an answer with its first token, and the refresh cookie that renews it. */
export async function startSession(
  work: Work & { origin: Origin; audit: Audit<'session.started'> },
  userId: string,
  { mfaAt, issuerSecondFactor }: Factors,
): Promise<{ answer: Answer; headers: Record<string, string> }> {
  const { db, context, now, origin } = work
  needServerKey(context)
  const id = newId('session')
  const endsAt = after(now, limits.sessionMaxSeconds)
  const expiresAt = idleAfter(now, endsAt)
  const { ipAddress, userAgent } = origin
  const agent = userAgent?.slice(0, 500) ?? null
  const refreshToken = newSecret()
  await insertSession(db, {
    id,
    userId,
    mfaAt,
    issuerSecondFactor,
    ipAddress,
    userAgent: agent,
    now,
    expiresAt,
    endsAt,
  })
  await insertRefreshToken(db, sha256(refreshToken), id)
  await auditUser(work, userId, 'session.started', id)
  return signedIn(work, { id, userId, mfaAt, expiresAt }, refreshToken)
}

/** Creates a new token for a session. It also sets the refresh cookie, unless the browser keeps its current one. */
export async function signedIn(
  { db, context, now }: Work,
  session: { id: string; userId: string; mfaAt: string | null; expiresAt: string },
  refreshToken?: string,
): Promise<{ answer: Answer; headers: Record<string, string> }> {
  const { id, userId, mfaAt } = session
  const wanted = after(now, limits.sessionTokenTtlSeconds)
  const expiresAt = wanted < session.expiresAt ? wanted : session.expiresAt
  const token = await context.sessionTokens.sign(db, { sessionId: id, userId }, expiresAt)
  const maxAge = Math.floor((Date.parse(session.expiresAt) - Date.parse(now)) / 1000)
  const cookie = refreshToken && cookieLine(context.config, 'skerry', refreshToken, { maxAge, sameSite: 'strict' })
  return {
    answer: { session: { id, token, expiresAt, mfaAt } },
    headers: cookie ? { 'set-cookie': cookie } : {},
  }
}

/** When a session that is used now expires. */
export const idleAfter = (now: string, endsAt: string): string => {
  const idle = after(now, limits.sessionIdleSeconds)
  return idle < endsAt ? idle : endsAt
}

export const after = (now: string, seconds: number): string => new Date(Date.parse(now) + seconds * 1000).toISOString()
