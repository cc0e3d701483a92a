import type { Tx } from '../../db/database.ts'
import type { Context } from '../../http/context.ts'
import { recordIn } from '../../kernel/audit.ts'
import { type DecoyId, endMinute, lockMinute, type Minute } from './store.ts'

/** Writes the unrecorded uses of a decoy's minute to the audit log as one entry. `beganAt` selects one minute. */
export async function closeMinute(context: Context, tx: Tx, decoy: DecoyId, beganAt?: string): Promise<void> {
  const minute = await lockMinute(tx, decoy)
  if (!minute?.minuteBeganAt || (beganAt !== undefined && minute.minuteBeganAt !== beganAt)) return
  await writeRest(context, tx, decoy, minute)
}

export async function writeRest(context: Context, tx: Tx, decoy: DecoyId, minute: Minute): Promise<void> {
  const { tokenId, placement, minuteBeganAt, minuteCount, minuteAddresses, lastTripAt } = minute
  if (minuteCount > 0) {
    const metadata = {
      tokenId,
      placement,
      count: minuteCount,
      since: minuteBeganAt,
      at: lastTripAt,
      addresses: minuteAddresses,
    }
    const last = { ipAddress: minute.lastTripIp, userAgent: minute.lastTripUserAgent, requestId: null }
    const entry = { orgId: decoy.orgId, action: 'honey_token.tripped', resourceId: decoy.id, metadata } as const
    recordIn(context, tx, { principal: null, ...last }, entry)
  }
  await endMinute(tx, decoy)
}
