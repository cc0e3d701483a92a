import { leaseProviders } from '@skerry/contract/leases/providers'
import type { Context } from '../../http/context.ts'
import { instant } from '../../kernel/context.ts'
import { executorOf } from './executors.ts'
import { type Ending, takeDue } from './ledger-store.ts'
import { pausedReasonOf } from './pause.ts'
import { findLease, findTarget, type Lease } from './scope.ts'
import { markEnded, postpone } from './tries.ts'

/**
 * Ends everything that is due on a target, one after the other over one connection, however many there are. Called again
 * while it runs, or after a crash in the middle, it does what is left.
 *
 * @returns false where no process is free for this organization: what is due stays due
 */
export async function endDue(context: Context, orgId: string, targetId: string): Promise<boolean> {
  for (;;) {
    const due = await context.db.transaction((tx) => takeDue(tx, orgId, targetId, instant(context)))
    if (due.length === 0) return true
    // A job that waited for a process would keep the jobs of other organizations from running.
    if (!(await endAll(context, orgId, targetId, due, 0))) return false
  }
}

/** Ends one lease now, and returns it as it is then: `revoking` if its target could not be reached. */
export async function endOne(context: Context, ending: Ending): Promise<Lease> {
  if (ending.targetId === null) await markEnded(context, ending)
  else await endAll(context, ending.orgId, ending.targetId, [ending])
  return (await findLease(context.db, { id: ending.orgId }, ending.id)) as Lease
}

/** Whether a target of this kind can take a credential back. Elsewhere only the ledger knows of an end. */
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
