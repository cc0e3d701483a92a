import type { Tx } from '../../db/database.ts'
import type { Context } from '../../http/context.ts'
import type { RejectedToken } from '../../identity/rejected-tokens.ts'
import { idOf } from '../../jobs/schedule.ts'
import { recordIn, system, transactWithAudit } from '../../kernel/audit.ts'
import { instant } from '../../kernel/context.ts'
import { findExposed, recordExposure } from '../tokens/exposures.ts'
import { endOfMinute } from './jobs.ts'
import { writeRest } from './minutes.ts'
import { addTrips, type DecoyId, findDecoys, lockMinute } from './store.ts'

/**
 * Finds the decoys among the service tokens that were refused since the last run, and the tokens that were sent whole,
 * and records them. No request waits for this or does it: until then, a decoy is handled like any other invalid token.
 */
export const recordTrips = (context: Context): Promise<void> =>
  context.rejectedTokens.flush(async (rejectedTokens) => {
    const hashes = rejectedTokens.map(({ bearerHash }) => bearerHash)
    const ids = rejectedTokens.map(({ tokenId }) => tokenId)
    const decoys = await findDecoys(context.db, hashes, ids)
    const exposed = await findExposed(context, rejectedTokens)
    if (decoys.length === 0 && exposed.length === 0) return
    await transactWithAudit(context, system, async (tx) => {
      for (const decoy of decoys) {
        // An organization that registers its own decoy twice has made it, so this is no use of it.
        const isOfDecoy = ({ bearerHash, tokenId, byOrgId }: RejectedToken) =>
          byOrgId !== decoy.orgId && (bearerHash === decoy.tokenHash || tokenId === decoy.tokenId)
        await recordTripsOf(context, tx, decoy, rejectedTokens.filter(isOfDecoy))
      }
      for (const one of exposed) await recordExposure(context, tx, one)
    })
  })

const minuteMs = 60_000
const addressesMax = 20

/**
 * A thief who finds a decoy must not fill the audit log. The first use is recorded at once. Further uses within the
 * minute are counted and recorded as one entry at its end, however many addresses and programs they come from.
 */
async function recordTripsOf(context: Context, tx: Tx, decoy: DecoyId, rejected: RejectedToken[]): Promise<void> {
  const [first, ...others] = rejected.toSorted((one, other) => (one.at < other.at ? -1 : 1))
  const minute = first && (await lockMinute(tx, decoy))
  if (!minute) return
  const now = instant(context)
  const beganAt = minute.minuteBeganAt
  const isOver = beganAt !== null && Date.parse(now) - Date.parse(beganAt) >= minuteMs
  if (isOver) await writeRest(context, tx, decoy, minute)
  const isFirst = isOver || beganAt === null
  const count = rejected.reduce((sum, { times }) => sum + times, 0)
  const last = others.at(-1) ?? first
  const addresses = new Set(isFirst ? [] : minute.minuteAddresses)
  for (const { ipAddress } of rejected) if (ipAddress && addresses.size < addressesMax) addresses.add(ipAddress)
  const trips = {
    ...last,
    count,
    toClose: isFirst ? count - 1 : count,
    minuteBeganAt: isFirst ? now : beganAt,
    addresses: [...addresses],
  }
  const added = await addTrips(tx, decoy, trips)
  if (isFirst) await recordFirst(context, tx, decoy, { ...minute, ...first, beganAt: now })
  if (added?.alertDue) {
    const { at, ipAddress, userAgent } = last
    const facts = { tokenId: minute.tokenId, placement: minute.placement, at, ipAddress, userAgent }
    await context.events.emit(tx, 'honey_token.tripped', decoy.orgId, facts)
  }
}

type First = RejectedToken & { placement: string | null; beganAt: string }

async function recordFirst(context: Context, tx: Tx, { orgId, id }: DecoyId, first: First): Promise<void> {
  const { tokenId, placement, at, ipAddress, userAgent, requestId, beganAt } = first
  const metadata = { tokenId, placement, count: 1, at }
  const entry = { orgId, action: 'honey_token.tripped', resourceId: id, metadata } as const
  recordIn(context, tx, { principal: null, ipAddress, userAgent, requestId }, entry)
  const sending = { id: idOf('end of minute', id, beganAt), startAfterSeconds: minuteMs / 1000 }
  await context.queue.enqueue(tx, endOfMinute, { orgId, id, beganAt }, sending)
}
