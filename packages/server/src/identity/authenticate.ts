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

/** How an operation authenticates its caller: which credentials it accepts, and whether cached tokens are enough. */
export interface Asking {
  surface: Surface
  /**
   * `none`: every caller is looked up. `current`: a service token may come from the cache if the cache has read all
   * invalidations. `unconfirmed`: it may come from the cache in any state. Then the transaction confirms it in its
   * first round trip (`confirmToken`), or the statement that writes does (`Batch`).
   */
  memory: 'none' | 'current' | 'unconfirmed'
}

/**
 * Finds out who sent a request, or refuses with 401. A valid caller has its own rate limit. Callers without a valid
 * credential share the limit of their address, so that one bad token does not block valid callers at that address.
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

/** Selects the rate limit of a caller. The reads of an executor are also counted where credentials are released. */
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

/** Refuses a cached token that is no longer valid. The caller records the use of a valid one after the transaction. */
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

/** Returns a cached service token, as current as the resolve cache is. */
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
