import { leaseProviders } from '@skerry/contract/leases/providers'
import type { Context } from '../../http/context.ts'
import { instant } from '../../kernel/context.ts'
import { executorOf } from './executors.ts'
import { type Ending, takeDue } from './ledger-store.ts'
import { pausedReasonOf } from './pause.ts'
import { findLease, findTarget, type Lease } from './scope.ts'
import { markEnded, postpone } from './tries.ts'

/**
 * Ends the due leases of a target one after the other, with one connection for each batch of 100. A second call, also
 * one that runs at the same time or after a crash, ends the leases that are left.
 *
 * @returns false if no process is free for this organization; the leases then stay due
 */
export async function endDue(context: Context, orgId: string, targetId: string): Promise<boolean> {
  for (;;) {
    const due = await context.db.transaction((tx) => takeDue(tx, orgId, targetId, instant(context)))
    if (due.length === 0) return true
    // A job that waited for a process would block the jobs of other organizations.
    if (!(await endAll(context, orgId, targetId, due, 0))) return false
  }
}

/** Ends one lease now and returns its new state, which is `revoking` if its target could not be reached. */
export async function endOne(context: Context, ending: Ending): Promise<Lease> {
  if (ending.targetId === null) await markEnded(context, ending)
  else await endAll(context, ending.orgId, ending.targetId, [ending])
  return (await findLease(context.db, { id: ending.orgId }, ending.id)) as Lease
}

/** True if the provider can revoke a credential. A lease of any other provider ends only in the ledger. */
const isRevocable = ({ provider }: Pick<Lease, 'provider'>): boolean => leaseProviders[provider].revocable

async function endAll(
  context: Context,
  orgId: string,
  targetId: string,
  due: Ending[],
  waitMs?: number,
): Promise<boolean> {
  if (!due.every(isRevocable)) {
    for (const lease of due) await markEnded(context, lease)
    return true
  }
  const target = await findTarget(context.db, { id: orgId }, targetId)
  if (!target) return true
  if (target.status === 'paused') {
    for (const lease of due) await postpone(context, lease, pausedReasonOf(target))
    return true
  }
  return executorOf(target).end(context, target, due, waitMs)
}
