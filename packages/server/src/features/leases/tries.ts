import type { Context } from '../../http/context.ts'
import { system, transactWithAudit } from '../../kernel/audit.ts'
import { type Ending, moveLease, scheduleTry } from './ledger-store.ts'
import { deleteJobOf } from './provisioner-store.ts'
import { findTarget } from './scope.ts'

// A try to end a lease has one of three results: its account is absent, it was removed, or the try failed.

const firstPauseSeconds = 5
const pauseMaxSeconds = 600
const giveUpAfterMs = 24 * 3600 * 1000

/** Objects have their own audit entry: the revocation has one already, and the account may be removed later. */
export async function recordObjects(
  context: Context,
  { orgId, id, targetId, resourceRef }: Ending,
  { dropped, reassigned }: { dropped: readonly string[]; reassigned: readonly string[] },
): Promise<void> {
  if (dropped.length + reassigned.length === 0) return
  const metadata = { targetId, resourceRef, dropped, reassigned }
  await transactWithAudit(context, system, async (_, record) =>
    record({ orgId, action: 'lease.cleaned_up', resourceId: id, metadata }),
  )
}

/**
 * Handles a try that found no account. While a statement that makes the account may still be on its way, the lease does
 * not end, and another try follows.
 */
export async function markAbsent(context: Context, lease: Ending): Promise<void> {
  const now = context.now().getTime()
  const from = Date.parse(lease.endingSince)
  if (now >= from) return markEnded(context, lease)
  const next = Math.min(from, now + pauseMs(lease))
  await scheduleTry(context.db, lease, new Date(next).toISOString(), null)
}

/** Nothing of the lease is left on the target. Records an expiry; a revocation was recorded when requested. */
export async function markEnded(context: Context, lease: Ending): Promise<void> {
  await transactWithAudit(context, system, async (db, record) => {
    const moved = await moveLease(db, lease, 'gone', lease.endsAs)
    const { orgId, id, targetId, resourceRef } = lease
    if (moved && lease.endsAs === 'expired')
      record({ orgId, action: 'lease.expired', resourceId: id, metadata: { targetId, resourceRef } })
  })
}

export async function recordFailedTry(context: Context, lease: Ending, lastError: string | null): Promise<void> {
  const now = context.now().getTime()
  if (now - Date.parse(lease.endingSince) > giveUpAfterMs) return markOrphaned(context, lease, lastError)
  await postpone(context, lease, lastError)
}

/** Schedules the next try. Time on a paused target orphans no lease, because nobody tries to end it there. */
export async function postpone(context: Context, lease: Ending, lastError: string | null): Promise<void> {
  const next = new Date(context.now().getTime() + pauseMs(lease)).toISOString()
  await scheduleTry(context.db, lease, next, lastError)
}

const pauseMs = ({ tries }: Ending) => Math.min(pauseMaxSeconds, firstPauseSeconds * 2 ** tries) * 1000

/** Orphans a lease after a day of failed tries. An admin has to check, because the account may still exist. */
async function markOrphaned(context: Context, lease: Ending, lastError: string | null): Promise<void> {
  await transactWithAudit(context, system, async (db, record) => {
    const moved = await moveLease(db, lease, 'give_up', 'orphaned', { lastError })
    if (!moved) return
    await deleteJobOf(db, lease)
    const { orgId, id, targetId, resourceRef } = lease
    record({ orgId, action: 'lease.orphaned', resourceId: id, metadata: { targetId, resourceRef } })
    const target = targetId === null ? undefined : await findTarget(db, { id: orgId }, targetId)
    const facts = { leaseId: id, target: target?.name ?? 'removed', account: resourceRef }
    await context.events.emit(db, 'lease.orphaned', orgId, facts)
  })
}
