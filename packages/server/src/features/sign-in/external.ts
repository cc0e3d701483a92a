import { ReturnTo } from '@skerry/contract/sign-in/schemas'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type { JWTPayload } from 'jose'
import type { Context } from '../../http/context.ts'
import { type Audit, auditUser } from '../../identity/audit-user.ts'
import { cookieLine, readCookie } from '../../identity/cookies.ts'
import { secondFactorOf } from '../../identity/oidc-claims.ts'
import { endSession, lockSessionOf } from '../../identity/session-store.ts'
import { issuerOf, needServerKey, startSession } from '../../identity/sessions.ts'
import { makeUser, personOf } from '../../identity/users.ts'
import { type Entry, type Origin, transactWithAudit } from '../../kernel/audit.ts'
import { instant, sha256 } from '../../kernel/context.ts'
import { describe, fail } from '../../kernel/errors.ts'
import { beginIdentityLink, identityLinkPage } from '../identity-links/begin.ts'
import { openExternalClient } from './external-client.ts'

// A browser signs in at an external issuer by redirects (authorization code with PKCE), and then has a session like any
// other. The values that must match at the return are encrypted in a cookie of that browser, so no other browser can
// finish the sign-in.

interface Begun {
  state: string
  nonce: string
  codeVerifier: string
  returnTo: string
  stepUp: boolean
  /** The hash of the refresh token of the session that a step-up renews. */
  sessionHash: string | null
  atMs: number
}

const patienceSeconds = 600
/** Clocks of the issuer and of this server may differ by this much. */
const skewMs = 60_000

export function mountExternal(app: FastifyInstance, context: Context): void {
  if (!context.config.oidc) return
  const client = openExternalClient(context.config.oidc)
  app.get('/sign-in/external', (request, reply) => begin(context, client, request, reply))
  app.get('/sign-in/external/callback', (request, reply) => finish(context, client, request, reply))
}

type Client = ReturnType<typeof openExternalClient>

const { pattern, maxLength } = ReturnTo as typeof ReturnTo & { pattern: string; maxLength: number }
const returnToForm = new RegExp(pattern)

async function begin(context: Context, client: Client, request: FastifyRequest, reply: FastifyReply) {
  context.limiter.take('sign_in', request.ip, {})
  const serverKey = needServerKey(context)
  const query = request.query as Record<string, unknown>
  const { returnTo = '/', stepUp } = query
  if (typeof returnTo !== 'string' || returnTo.length > maxLength || !returnToForm.test(returnTo))
    throw fail('invalid_request', 'query.returnTo: is not a path on this server')
  const redirectUri = redirectUriOf(context)
  const asked = await client.ask(redirectUri, stepUp === '1').catch((error) => failed(context, error))
  if (!asked) return toSignIn(reply)
  const refreshToken = readCookie(context.config, request.headers, 'skerry')
  const { url, ...secrets } = asked
  const begun: Begun = {
    ...secrets,
    returnTo,
    stepUp: stepUp === '1',
    sessionHash: refreshToken === undefined ? null : sha256(refreshToken),
    atMs: context.now().getTime(),
  }
  const sealed = serverKey.seal('external-sign-in', 'cookie', JSON.stringify(begun))
  // SameSite is lax, because the return from the issuer is a navigation from another site.
  const line = cookieLine(context.config, 'skerry-external', sealed, { maxAge: patienceSeconds, sameSite: 'lax' })
  return reply.header('set-cookie', line).header('cache-control', 'no-store').redirect(url.href)
}

async function finish(context: Context, client: Client, request: FastifyRequest, reply: FastifyReply) {
  context.limiter.take('sign_in', request.ip, {})
  const begun = begunBy(context, request)
  reply.header('set-cookie', cookieLine(context.config, 'skerry-external', '', { maxAge: 0, sameSite: 'lax' }))
  reply.header('cache-control', 'no-store').header('referrer-policy', 'no-referrer')
  if (!begun) return toSignIn(reply)
  const url = new URL(redirectUriOf(context))
  url.search = new URL(request.url, url).search
  const claims = await client.redeem(url, begun).catch((error) => failed(context, error))
  if (!claims || (begun.stepUp && !isNew(claims, begun.atMs))) return toSignIn(reply)
  const { cookie, to } = await enter(context, request, claims, begun)
  return reply.header('set-cookie', cookie).redirect(to)
}

function begunBy(context: Context, { headers }: FastifyRequest): Begun | undefined {
  const sealed = readCookie(context.config, headers, 'skerry-external')
  const text = sealed && needServerKey(context).open('external-sign-in', 'cookie', sealed)
  if (!text) return undefined
  const begun: Begun = JSON.parse(text)
  return context.now().getTime() - begun.atMs > patienceSeconds * 1000 ? undefined : begun
}

/** Checks that the person signed in again, because an issuer may ignore the request for that. */
const isNew = ({ auth_time: at }: JWTPayload, begunMs: number): boolean =>
  typeof at === 'number' && at * 1000 >= begunMs - skewMs

interface Entered {
  /** The Set-Cookie header, for the session or for the question that comes before it. */
  cookie: string
  to: string
}

/**
 * Finds the person by issuer and subject, or adds them at their first sign-in, and begins a session of this browser. If a
 * person of another issuer has the same verified address, the browser is asked first.
 */
async function enter(context: Context, request: FastifyRequest, claims: JWTPayload, begun: Begun): Promise<Entered> {
  const now = instant(context)
  const person = personOf(issuerOf(context), claims)
  const { secondFactor, mfaAt } = secondFactorOf(claims, now)
  const origin: Origin = {
    principal: null,
    ipAddress: request.ip,
    userAgent: request.headers['user-agent'] ?? null,
    requestId: request.id,
  }
  return transactWithAudit(context, origin, async (db, record) => {
    const audit: Audit<Entry['action']> = (action, resourceId, metadata = {}, more = {}) =>
      record({ orgId: null, action, resourceId, metadata, ...more })
    const work = { db, context, now, origin, audit }
    const factors = { mfaAt, issuerSecondFactor: secondFactor }
    const question = await beginIdentityLink(work, person, factors, begun.returnTo)
    if (question !== undefined) return { cookie: question, to: identityLinkPage }
    const userId = await makeUser(db, person, now, audit)
    const replaced =
      begun.stepUp && begun.sessionHash ? await lockSessionOf(db, begun.sessionHash, person.issuer, now) : undefined
    if (replaced?.userId === userId && (await endSession(db, replaced.id, userId, now)))
      await auditUser(work, userId, 'session.ended', replaced.id, { reason: 'signed in anew' })
    const { headers } = await startSession(work, userId, factors)
    return { cookie: headers['set-cookie'] as string, to: begun.returnTo }
  })
}

const redirectUriOf = ({ config }: Context): string => `${config.baseUrl}/sign-in/external/callback`

/** The browser learns only that the sign-in failed, whoever was at fault. The log has the reason. */
const failed = ({ log }: Context, error: unknown): undefined => {
  log.warn('signing in at the issuer failed', describe(error))
}

const toSignIn = (reply: FastifyReply) => reply.redirect('/sign-in?error=external')
