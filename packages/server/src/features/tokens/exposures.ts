import type { Tx } from '../../db/database.ts'
import type { Context } from '../../http/context.ts'
import type { RejectedToken } from '../../identity/rejected-tokens.ts'
import { recordIn } from '../../kernel/audit.ts'
import { instant } from '../../kernel/context.ts'
import { type Exposed, findByHash, upsertExposure } from './exposure-store.ts'

type Exposure = Exposed & { seen: RejectedToken }

/**
 * Finds the valid tokens that were sent whole, instead of the bearer that is derived from them. A program that does not
 * know the format sends the seed of the key too. The request was refused, but anyone who saw it on the way can open
 * what the token can.
 */
export async function findExposed({ db, now }: Context, rejectedTokens: RejectedToken[]): Promise<Exposure[]> {
  const byHash = new Map(
    rejectedTokens.flatMap((seen) => (seen.derivedHash ? [[seen.derivedHash, seen] as const] : [])),
  )
  if (byHash.size === 0) return []
  const tokens = await findByHash(db, [...byHash.keys()], now().toISOString())
  return tokens.map((token) => ({ ...token, seen: byHash.get(token.tokenHash) as RejectedToken }))
}

/** Records and mails an exposure once an hour for each token, however often it is sent. */
export async function recordExposure(context: Context, tx: Tx, { orgId, id, name, seen }: Exposure): Promise<void> {
  if (!(await upsertExposure(tx, { orgId, id }, instant(context)))) return
  const { at, ipAddress, userAgent, requestId } = seen
  const entry = { orgId, action: 'token.exposed', resourceId: id, metadata: { name, at } } as const
  recordIn(context, tx, { principal: null, ipAddress, userAgent, requestId }, entry)
  await context.events.emit(tx, 'token.exposed', orgId, { tokenId: id, name, at, ipAddress, userAgent })
}
