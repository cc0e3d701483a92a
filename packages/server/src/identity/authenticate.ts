import { timingSafeEqual } from 'node:crypto'
import type { IncomingMessage } from 'node:http'
import { idPattern } from '@skerry/contract/prefixes'
import type { Sql } from '../db/database.ts'
import { type Context, instant, sha256 } from '../kernel/context.ts'
import { fail, Refusal } from '../kernel/errors.ts'
import type { Principal, TokenPrincipal } from '../kernel/principal.ts'
import type { Origin } from '../kernel/unit.ts'
import { presentedToken } from './presented.ts'
import { isOwnToken } from './session-tokens.ts'
import { issuerOf, sessionUser } from './sessions.ts'
import { findAccessToken, findCliSession, findMachineClient, findServiceToken, isTokenInForce } from './store.ts'
import { signedInUser } from './users.ts'

/**
 * Says who sent a request, or refuses with 401. Valid callers take from their own rate limit; those without a valid
 * credential from their address's, so that one bad token does not lock out its neighbours.
 */
export async function authenticate(
  context: Context,
  request: IncomingMessage,
  origin: Origin,
  memory: Memory,
): Promise<Principal> {
  try {
    const principal =
      fromMemory(context, request, origin, memory) ?? (await identify(context, request.headers.authorization, origin))
    context.limiter.take('principal', principal.id)
    return principal
  } catch (error) {
    if (error instanceof Refusal && error.code === 'unauthorized')
      context.limiter.take('stranger', origin.ipAddress ?? '')
    throw error
  }
}

/**
 * How far memory may say who a service token is: not at all; as fresh as the resolve cache is; or in any case, because the
 * unit of work will confirm it in its first round trip (`confirmToken`), or the statement that writes will (`Batch`).
 */
export type Memory = 'none' | 'fresh' | 'confirmed'

function fromMemory(context: Context, request: IncomingMessage, origin: Origin, memory: Memory) {
  if (memory === 'none') return undefined
  const nowMs = context.now().getTime()
  if (memory === 'fresh') return rememberedToken(context, request, nowMs)
  const bearerHash = presentedToken(request)
  const token = bearerHash && context.cache.findUnconfirmedToken(bearerHash)
  if (!token) return undefined
  origin.unconfirmed = bearerHash
  return token
}

/** Refuses a token that memory knew and that is no longer in force. What a token is never changes; whether it is, does. */
export async function confirmToken(context: Context, db: Sql, origin: Origin): Promise<void> {
  if (origin.unconfirmed === undefined) return
  if (await isTokenInForce(db, origin.unconfirmed, instant(context)))
    return context.lastUsed.note(origin.principal as TokenPrincipal, context.now().getTime())
  context.limiter.take('stranger', origin.ipAddress ?? '')
  throw fail('unauthorized', 'unknown service token')
}

/** A service token that was looked up before, as fresh as the resolve cache is. */
export function rememberedToken(context: Context, request: IncomingMessage, nowMs: number): TokenPrincipal | undefined {
  const bearerHash = presentedToken(request)
  const token = bearerHash && context.cache.findConfirmedToken(bearerHash)
  if (!token || token.validUntilMs <= nowMs) return undefined
  context.lastUsed.note(token, nowMs)
  return token
}

async function identify(context: Context, authorization: string | undefined, origin: Origin): Promise<Principal> {
  if (!authorization) throw fail('unauthorized', 'send an Authorization header')
  const [scheme, credential, ...rest] = authorization.split(' ')
  if (!credential || rest.length > 0) throw fail('unauthorized', 'Authorization: send one scheme and one credential')
  if (/^basic$/i.test(scheme as string)) return machineClient(context.db, basicCredentials(credential))
  if (!/^bearer$/i.test(scheme as string)) throw fail('unauthorized', 'Authorization: only Bearer and Basic are known')
  if (credential.startsWith('skt_')) return serviceToken(context, credential, origin)
  if (credential.startsWith('skm_')) return accessToken(context, credential)
  if (credential.startsWith('skc_')) return cliSession(context, credential)
  if (/^[\w-]+\.[\w-]+\.[\w-]+$/.test(credential)) return sessionOf(context, credential, origin)
  throw fail('unauthorized', 'unknown credential')
}

/** A route that asks for no credential answers all alike. Whoever shows it a decoy has found one all the same. */
export function noteStrayToken(context: Context, { headers }: IncomingMessage, origin: Origin): void {
  const [, bearer] = /^bearer (skt_\S+)$/i.exec(headers.authorization ?? '') ?? []
  if (bearer) context.rejectedTokens.note(bearer, sha256(bearer), origin, instant(context))
}

/** Our own session token, or one of the external issuer. Each goes to one verifier; what it claims decides no more. */
function sessionOf(context: Context, jwt: string, origin: Origin): Promise<Principal> {
  // Not spelt as base64url is written: several spellings of one token have no use but to be mistaken for several.
  const parts = jwt.split('.')
  if (parts.some((part) => Buffer.from(part, 'base64url').toString('base64url') !== part))
    throw fail('unauthorized', 'session token refused')
  return isOwnToken(jwt) ? sessionUser(context, jwt) : signedInUser(context, jwt, origin)
}

/**
 * One answer for unknown, revoked, expired and decoys, in the same bytes after the same work: whoever tries tokens learns
 * nothing but that they do not work. What a refused one was, is asked after the answer.
 */
async function serviceToken(context: Context, bearer: string, origin: Origin): Promise<Principal> {
  const bearerHash = sha256(bearer)
  const generation = context.cache.generation()
  const token = await findServiceToken(context.db, bearerHash)
  const now = instant(context)
  const usable =
    token && token.revokedAt === null && token.deletedAt === null && (token.expiresAt === null || token.expiresAt > now)
  if (!usable) {
    context.rejectedTokens.note(bearer, bearerHash, origin, now)
    throw fail('unauthorized', 'unknown service token')
  }
  context.lastUsed.note(token, Date.parse(now))
  const { id, orgId, role, environmentId, expiresAt } = token
  const validUntilMs = expiresAt === null ? Number.POSITIVE_INFINITY : Date.parse(expiresAt)
  const principal = { type: 'service_token', id, orgId, role, environmentId, validUntilMs } as const
  context.cache.keepToken(generation, bearerHash, principal)
  return principal
}

/** Looked up each time, so that a revoked one is refused on its next request by every server. One answer for all that fail. */
async function cliSession(context: Context, bearer: string): Promise<Principal> {
  const session = await findCliSession(context.db, sha256(bearer), issuerOf(context))
  const usable =
    session && session.revokedAt === null && session.expiresAt > instant(context) && bearer.startsWith(`${session.id}_`)
  if (!usable) throw fail('unauthorized', 'unknown CLI session')
  context.lastUsed.noteCliSession(session.id, context.now().getTime())
  const { id, userId, secondFactor, mfaAt } = session
  return { type: 'user', id: userId, session: { kind: 'cli', id, secondFactor, mfaAt } }
}

async function accessToken(context: Context, bearer: string): Promise<Principal> {
  const found = await findAccessToken(context.db, sha256(bearer), instant(context))
  if (!found) throw fail('unauthorized', 'unknown access token')
  return { type: 'm2m', id: found.clientId, orgId: found.orgId }
}

export interface ClientCredentials {
  clientId: string
  clientSecret: string
}

const clientId = new RegExp(idPattern('machineClient'))

/** Finds the machine client of these credentials. An unknown id costs the same comparison as a wrong secret. */
export async function machineClient(
  db: Sql,
  { clientId: id, clientSecret }: ClientCredentials,
): Promise<Principal & { type: 'm2m' }> {
  const client = clientId.test(id) ? await findMachineClient(db, id) : undefined
  const expected = Buffer.from(client?.secretHash ?? sha256(''))
  const matches = timingSafeEqual(expected, Buffer.from(sha256(clientSecret)))
  if (!client || !matches) throw fail('unauthorized', 'unknown client credentials')
  return { type: 'm2m', id, orgId: client.orgId }
}

export function basicCredentials(encoded: string): ClientCredentials {
  const text = Buffer.from(encoded, 'base64').toString()
  const colon = text.indexOf(':')
  if (colon < 0) throw fail('unauthorized', 'Authorization: Basic takes client id and secret')
  return { clientId: text.slice(0, colon), clientSecret: text.slice(colon + 1) }
}
