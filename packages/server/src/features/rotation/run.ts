import { randomUUID } from 'node:crypto'
import { generateValue } from '@skerry/providers/rotation/generated'
import type { Context } from '../../http/context.ts'
import { instant } from '../../kernel/context.ts'
import { fail } from '../../kernel/errors.ts'
import type { Origin } from '../../kernel/unit.ts'
import { configOf, isOfAccount } from './account.ts'
import { rotateAccount, settle } from './change.ts'
import { finish, recordFailed } from './finish.ts'
import { checkProven, openHeld } from './held.ts'
import type { Done, Run } from './one-run.ts'
import { claim, claimSeconds, extendClaim, releaseClaim } from './run-store.ts'
import type { RotationId } from './store.ts'

/** Of this process: what another one has claimed on an embedded database, it left behind when it died. */
const thisProcess = randomUUID()

/**
 * Rotates once. Undefined where another run has the policy, or where only what is due was wanted and it is not. A failure
 * is recorded, and thrown.
 */
export const runRotation = (
  context: Context,
  id: RotationId,
  { origin, onlyDue }: { origin: Origin; onlyDue: boolean },
): Promise<Done | undefined> =>
  claimed(context, id, { origin, onlyDue }, async (run) => {
    try {
      return await attempt(run)
    } catch (error) {
      await recordFailed(run, error)
      throw error
    }
  })

/** Finds out what became of a run that was cut off, and finishes or undoes it, before its policy is changed or removed. */
export async function settleRotation(context: Context, id: RotationId, origin: Origin): Promise<void> {
  const settled = await claimed(context, id, { origin, onlyDue: false }, async (run) => {
    await settle(run)
    return true
  })
  if (!settled) throw fail('conflict', underWay)
}

export const underWay = 'a rotation of it is under way: try again in a moment'

async function claimed<T>(
  context: Context,
  id: RotationId,
  { origin, onlyDue }: { origin: Origin; onlyDue: boolean },
  work: (run: Run) => Promise<T>,
): Promise<T | undefined> {
  const { db } = context
  const claimedBy = `${thisProcess} ${randomUUID()}`
  const until = () => new Date(context.now().getTime() + claimSeconds * 1000).toISOString()
  const alone = db.engine === 'embedded'
  const rotation = await claim(db, id, {
    claimedBy,
    process: thisProcess,
    now: instant(context),
    until: until(),
    onlyDue,
    alone,
  })
  if (!rotation) return undefined
  const beat = setInterval(() => extendClaim(db, id, claimedBy, until()).catch(() => {}), (claimSeconds * 1000) / 4)
  try {
    return await work({ context, rotation, claimedBy, origin })
  } finally {
    clearInterval(beat)
    await releaseClaim(db, id, claimedBy).catch(() => {})
  }
}

async function attempt(run: Run): Promise<Done> {
  return (await settle(run)) ?? (await begin(run))
}

async function begin(run: Run): Promise<Done> {
  const { context, rotation } = run
  const held = await openHeld(context, rotation)
  if (rotation.lastVersion !== null && !held.has(rotation.secretName))
    throw fail('conflict', 'the secret was deleted: write it again, or configure its rotation anew')
  checkProven(held)
  const config = configOf(rotation)
  if (isOfAccount(config)) return rotateAccount(run, held, config)
  return finish(run, held, { value: generateValue(config), username: null })
}
