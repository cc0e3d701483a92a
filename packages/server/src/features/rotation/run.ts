import { randomUUID } from 'node:crypto'
import { generateValue } from '@skerry/providers/rotation/generated'
import type { Context } from '../../http/context.ts'
import type { Origin } from '../../kernel/audit.ts'
import { instant } from '../../kernel/context.ts'
import { fail } from '../../kernel/errors.ts'
import { configOf, isOfAccount } from './account.ts'
import { resolveInterrupted, rotateAccount } from './change.ts'
import { finish, recordFailed } from './finish.ts'
import type { RotationResult, Run } from './one-run.ts'
import { checkProven, openRotatorKey } from './rotator-key.ts'
import { claim, claimSeconds, extendClaim, releaseClaim } from './run-store.ts'
import type { RotationId } from './store.ts'

/** Identifies this process. On an embedded database, the claim of another process is left from before it died. */
const thisProcess = randomUUID()

/**
 * Rotates once. Returns undefined if another run has the policy, or if `onlyDue` is set and it is not due. A failure is
 * recorded and thrown.
 */
export const runRotation = (
  context: Context,
  id: RotationId,
  { origin, onlyDue }: { origin: Origin; onlyDue: boolean },
): Promise<RotationResult | undefined> =>
  withClaim(context, id, { origin, onlyDue }, async (run) => {
    try {
      return await attempt(run)
    } catch (error) {
      await recordFailed(run, error)
      throw error
    }
  })

/** Finishes or undoes an interrupted rotation, before its policy is changed or removed. */
export async function resolveInterruptedRotation(context: Context, id: RotationId, origin: Origin): Promise<void> {
  const resolved = await withClaim(context, id, { origin, onlyDue: false }, async (run) => {
    await resolveInterrupted(run)
    return true
  })
  if (!resolved) throw fail('conflict', underWay)
}

export const underWay = 'a rotation of it is under way: try again in a moment'

async function withClaim<T>(
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

async function attempt(run: Run): Promise<RotationResult> {
  return (await resolveInterrupted(run)) ?? (await begin(run))
}

async function begin(run: Run): Promise<RotationResult> {
  const { context, rotation } = run
  const rotatorKey = await openRotatorKey(context, rotation)
  if (rotation.lastVersion !== null && !rotatorKey.has(rotation.secretName))
    throw fail('conflict', 'the secret was deleted: write it again, or configure a new rotation')
  checkProven(rotatorKey)
  const config = configOf(rotation)
  if (isOfAccount(config)) return rotateAccount(run, rotatorKey, config)
  return finish(run, rotatorKey, { value: generateValue(config), username: null })
}
