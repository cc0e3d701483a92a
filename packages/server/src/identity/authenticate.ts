import type { IncomingMessage } from 'node:http'
import type { Surface } from '@skerry/contract/endpoint'
import type { Sql } from '../db/database.ts'
import type { Origin } from '../kernel/audit.ts'
import { instant } from '../kernel/context.ts'
import { fail, Refusal } from '../kernel/errors.ts'
import type { AnyPrincipal, Identified, TokenPrincipal, Unconfirmed } from '../kernel/principal.ts'
import type { RateName } from '../kernel/rate-limits.ts'
import { bearerHashOf } from './bearer-hash.ts'
import { identify } from './bearers.ts'
import type { IdentityContext } from './context.ts'
import { noteRefusedToken } from './decoy-watch.ts'
import { isTokenInForce } from './store.ts'

/** What an operation wants to know of its caller: which credentials it takes, and how far memory may say whose they are. */
export interface Asking {
  surface: Surface
  /**
   * `none`: every caller is looked up. `current`: a service token may come from memory whose invalidations have been read.
   * `unconfirmed`: from any memory, because the transaction confirms it in its first round trip (`confirmToken`), or the
   * statement that writes does (`Batch`).
   */
  memory: 'none' | 'current' | 'unconfirmed'
}

/**
 * Says who sent a request, or refuses with 401. Valid callers take from their own rate limit; those without a valid
 * credential from their address's, so that one bad token does not lock out its neighbours.
 */
export async function authenticate(
  context: IdentityContext,
  request: IncomingMessage,
  origin: Origin,
  { surface, memory }: Asking,
): Promise<Identified> {
  try {
    const identified = remembered(context, request, memory) ?? {
      confirmed: true,
      principal: await identify(context, surface, request.headers.authorization, origin),
    }
    context.limiter.take(...limitOf(identified.principal), origin)
    return identified
  } catch (error) {
    if (error instanceof Refusal && error.code === 'unauthorized') {
      noteRefusedToken(context, request, origin)
      context.limiter.take('stranger', origin.ipAddress ?? '', origin)
    }
    throw error
  }
}

/** Whose bucket a request takes from. What an executor reads is counted where it is released, too. */
function limitOf(principal: AnyPrincipal): [rate: RateName, key: string] {
  if (principal.type === 'vault_platform') return ['vaultPlatform', principal.id]
  if (principal.type === 'vault_end_user') return ['vaultConnect', principal.sessionId]
  return ['principal', principal.id]
}

function remembered(
  context: IdentityContext,
  request: IncomingMessage,
  memory: Asking['memory'],
): Identified | undefined {
  if (memory === 'none') return undefined
  if (memory === 'unconfirmed') return unconfirmedToken(context, request)
  const principal = rememberedToken(context, request, context.now().getTime())
  return principal && { confirmed: true, principal }
}

function unconfirmedToken(context: IdentityContext, request: IncomingMessage): Unconfirmed | undefined {
  const tokenHash = bearerHashOf(request)
  const principal = tokenHash && context.tokenMemory.findUnconfirmedToken(tokenHash)
  return principal ? { confirmed: false, principal, tokenHash } : undefined
}

/** Refuses a token that memory knew and that is no longer in force. Its use is noted once the transaction has ended. */
export async function confirmToken(
  context: IdentityContext,
  db: Sql,
  { tokenHash }: Unconfirmed,
  origin: Origin,
): Promise<void> {
  if (await isTokenInForce(db, tokenHash, instant(context))) return
  context.limiter.take('stranger', origin.ipAddress ?? '', origin)
  throw fail('unauthorized', 'unknown service token')
}

/** A service token that was looked up before, as current as the resolve cache is. */
export function rememberedToken(
  context: IdentityContext,
  request: IncomingMessage,
  nowMs: number,
): TokenPrincipal | undefined {
  const bearerHash = bearerHashOf(request)
  const token = bearerHash && context.tokenMemory.findConfirmedToken(bearerHash)
  if (!token || token.validUntilMs <= nowMs) return undefined
  context.lastUsed.note(token, nowMs)
  return token
}
