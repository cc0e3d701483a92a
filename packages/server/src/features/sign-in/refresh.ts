import type { signIn } from '@skerry/contract/sign-in/endpoints'
import { type In, type Out, Reply } from '../../http/route.ts'
import { auditUser } from '../../identity/audit-user.ts'
import { checkSameOrigin, cookieLine, readCookie } from '../../identity/cookies.ts'
import {
  endSession,
  insertRefreshToken,
  isUnspent,
  lockSessionOf,
  type RefreshedSession,
  spendRefreshToken,
  useSession,
} from '../../identity/session-store.ts'
import { idleAfter, issuerOf, needServerKey, signedIn } from '../../identity/sessions.ts'
import { sha256 } from '../../kernel/context.ts'
import { fail, refuseAndCommit } from '../../kernel/errors.ts'

const graceMs = 10_000

type Request = In<typeof signIn.refresh>

/**
 * Returns a new session token and the next refresh cookie, its successor. Each cookie works once. If a cookie comes that
 * was used more than ten seconds ago, either a thief sends a copy, or the owner sends a cookie that a thief has used.
 * Nobody can tell which, so the session ends.
 *
 * A used cookie is not always stolen: two tabs that wake up together send the same one, and a browser that lost an
 * answer sends it again. So for ten seconds, and while the successor is unused, the server answers a used cookie with
 * the same successor again. A thief of the cookie gains nothing by this, because they could have used it first anyway.
 * If two holders of one successor use it more than ten seconds apart, the session ends.
 */
export async function refresh(input: Request): Out<typeof signIn.refresh> {
  const { db, context, headers, now } = input
  checkSameOrigin(context.config, headers)
  const serverKey = needServerKey(context)
  const token = readCookie(context.config, headers, 'skerry')
  const session = token && (await lockSessionOf(db, sha256(token), issuerOf(context), now))
  if (!session) {
    context.limiter.take('stranger', input.origin.ipAddress ?? '', input.origin)
    throw fail('unauthorized', 'no session: sign in')
  }
  // The successor is derived, so that it can be returned twice although only its hash is stored.
  const successors = serverKey.macs('refresh-token', token)
  let successor: string | undefined = successors[0]
  if (session.spentAt === null) {
    await spendRefreshToken(db, sha256(token), now)
    await insertRefreshToken(db, sha256(successor), session.id)
  } else successor = await successorInGrace(input, session.spentAt, successors)
  if (successor === undefined) return endFamily(input, session)
  const expiresAt = idleAfter(now, session.endsAt)
  await useSession(db, session.id, now, expiresAt)
  const { answer, headers: sent } = await signedIn(input, { ...session, expiresAt }, successor)
  return new Reply(200, answer, sent)
}

/** Returns the successor that was issued, which may have been derived from the previous server key. */
async function successorInGrace({ db, now }: Request, spentAt: string, successors: string[]) {
  if (Date.parse(now) - Date.parse(spentAt) > graceMs) return undefined
  for (const successor of successors) if (await isUnspent(db, sha256(successor))) return successor
  return undefined
}

async function endFamily(input: Request, session: RefreshedSession) {
  await endSession(input.db, session.id, session.userId, input.now)
  await auditUser(input, session.userId, 'session.ended', session.id, { reason: 'a spent refresh token came back' })
  return refuseAndCommit('unauthorized', 'no session: sign in')
}

/** Deletes the cookie in the browser in any case, even if it belongs to no session. */
export async function signOut(input: In<typeof signIn.signOut>): Out<typeof signIn.signOut> {
  const { db, context, headers, now } = input
  checkSameOrigin(context.config, headers)
  const token = readCookie(context.config, headers, 'skerry')
  const session = token && (await lockSessionOf(db, sha256(token), issuerOf(context), now))
  if (session && (await endSession(db, session.id, session.userId, now)))
    await auditUser(input, session.userId, 'session.ended', session.id, { reason: 'signed out' })
  const cookie = cookieLine(context.config, 'skerry', '', { maxAge: 0, sameSite: 'strict' })
  return new Reply(200, { ok: true } as const, { 'set-cookie': cookie })
}
