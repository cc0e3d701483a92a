import type { Context } from '../../http/context.ts'
import { system, transactWithAudit } from '../../kernel/audit.ts'
import { instant } from '../../kernel/context.ts'
import { fail } from '../../kernel/errors.ts'
import type { LeaseTarget } from './scope.ts'
import { addChildFailure, clearChildFailures, pauseTarget } from './target-store.ts'

type TargetId = Pick<LeaseTarget, 'orgId' | 'id'>

/** A target that ends its adapter's process this often in a row is paused. Refusals do not change the count. */
const childFailuresMax = 3

/** Refuses to use a paused target. An admin who verifies it, or replaces its credential, tries it again. */
export function checkNotPaused({ status, lastError }: Pick<LeaseTarget, 'status' | 'lastError'>): void {
  if (status === 'paused') throw fail('conflict', pausedReasonOf({ lastError }))
}

export const pausedReasonOf = ({ lastError }: Pick<LeaseTarget, 'lastError'>): string =>
  `${lastError ?? 'target: it failed'}. The target is paused until an admin verifies it`

/** @param message the failure, without secrets */
export async function countChildFailure(context: Context, target: TargetId, message: string): Promise<void> {
  const { orgId, id } = target
  await transactWithAudit(context, system, async (db, record) => {
    const counted = await addChildFailure(db, target)
    if (!counted || counted.childFailures < childFailuresMax || counted.status === 'paused') return
    const reason = `target: ${message}`
    await pauseTarget(db, target, { reason, now: instant(context) })
    record({ orgId, action: 'lease_target.paused', resourceId: id, metadata: { name: counted.name, reason } })
    await context.events.emit(db, 'lease_target.paused', orgId, { targetId: id, target: counted.name, reason })
  })
}

/** Resets the count after a job that finished on the target. */
export async function endChildFailures(context: Context, target: TargetId): Promise<void> {
  await clearChildFailures(context.db, target)
}
