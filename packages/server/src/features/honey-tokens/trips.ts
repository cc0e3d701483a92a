import type { Tx } from '../../db/database.ts'
import type { RejectedToken } from '../../identity/rejected-tokens.ts'
import type { Context } from '../../kernel/context.ts'
import { recordIn } from '../../kernel/unit.ts'
import { addTrips, findDecoys } from './store.ts'

/**
 * Finds the decoys among the service tokens that were refused since the last time, and records that they were tried. A
 * request never waits for this, and none does it: until here a decoy is a token like any other that does not work.
 */
export const recordTrips = (context: Context): Promise<void> =>
  context.rejectedTokens.flush(async (rejectedTokens) => {
    const hashes = rejectedTokens.map(({ bearerHash }) => bearerHash)
    const ids = rejectedTokens.map(({ tokenId }) => tokenId)
    const decoys = await findDecoys(context.db, hashes, ids)
    if (decoys.length === 0) return
    await context.db.transaction(async (tx) => {
      for (const decoy of decoys) {
        const isOfDecoy = ({ bearerHash, tokenId }: RejectedToken) =>
          bearerHash === decoy.tokenHash || tokenId === decoy.tokenId
        await recordTripsOf(context, tx, decoy, rejectedTokens.filter(isOfDecoy))
      }
    })
  })

/** One entry for each address and program, however often it tried: whoever finds a decoy must not fill the trail. */
async function recordTripsOf(
  context: Context,
  tx: Tx,
  decoy: { orgId: string; id: string; tokenId: string },
  rejectedTokens: RejectedToken[],
): Promise<void> {
  const last = rejectedTokens.reduce((one, other) => (other.at > one.at ? other : one))
  const count = rejectedTokens.reduce((sum, { times }) => sum + times, 0)
  const trip = await addTrips(tx, decoy, { ...last, count })
  if (!trip) return
  if (trip.alertDue) {
    const { at, ipAddress, userAgent } = last
    const facts = { tokenId: decoy.tokenId, at, ipAddress, userAgent }
    await context.events.emit(tx, 'honey_token.tripped', decoy.orgId, facts)
  }
  for (const { times, at, ...from } of rejectedTokens) {
    const metadata = { tokenId: decoy.tokenId, placement: trip.placement, times, at }
    const entry = { orgId: decoy.orgId, action: 'honey_token.tripped', resourceId: decoy.id, metadata } as const
    recordIn(context, tx, { principal: null, ...from }, entry)
  }
}
