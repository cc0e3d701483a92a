import { leaseProviders } from '@skerry/contract/leases/providers'
import type { RemoteSession } from '@skerry/providers/children/remote'
import { ProviderError } from '@skerry/providers/provider-error'
import type { Context } from '../../http/context.ts'
import { instant, newId } from '../../kernel/context.ts'
import { Refusal } from '../../kernel/errors.ts'
import { system, unit } from '../../kernel/unit.ts'
import { type Ending, moveLease, scheduleTry, takeDue } from './ledger-store.ts'
import { pausedReasonOf } from './pause.ts'
import { provisionerOf } from './provisioned.ts'
import { deleteJobOf, insertJob } from './provisioner-store.ts'
import { findLease, findTarget, type Lease } from './scope.ts'
import { onTarget } from './session.ts'
import { ring } from './waiting.ts'

const firstPauseSeconds = 5
const pauseMaxSeconds = 600
const giveUpAfterMs = 24 * 3600 * 1000

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

/** Ends one now, and gives it as it is then: `revoking` where its target could not be reached. */
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
  const left = new Set(due)
  const tokenId = provisionerOf(target)
  if (tokenId !== null) {
    await askProvisioner(context, tokenId, due)
    return true
  }
  const removeAll = async (session: RemoteSession) => {
    for (const lease of due) {
      await removeAccount(context, session, lease)
      left.delete(lease)
    }
  }
  try {
    await onTarget(context, target, removeAll, waitMs)
  } catch (error) {
    if (!(error instanceof Refusal)) throw error
    if (error.code === 'rate_limited' && waitMs === 0) return false
    for (const lease of left) await recordFailedTry(context, lease, error.message)
  }
  return true
}

/** The work waits until the provisioner asks for it. Each later try sees that it is still there, and counts the time. */
async function askProvisioner(context: Context, tokenId: string, due: Ending[]): Promise<void> {
  for (const lease of due) {
    const { orgId, id: leaseId, targetId } = lease
    const job = { id: newId('provisionerJob'), targetId: targetId as string, leaseId, now: instant(context) }
    await insertJob(context.db, orgId, job)
    await recordFailedTry(
      context,
      lease,
      lease.tries === 0 ? null : (lease.lastError ?? 'the provisioner has not done it yet'),
    )
  }
  ring(tokenId)
}

/** One that fails by itself, because of what it owns for example, does not keep the others. */
async function removeAccount(context: Context, session: RemoteSession, lease: Ending): Promise<void> {
  const { id, resourceRef, verifierDigest } = lease
  if (resourceRef === null) return markAbsent(context, lease)
  try {
    const { problem, ...objects } = await session.revoke({ id, resourceRef, verifierDigest })
    await recordObjects(context, lease, objects)
    if (problem !== null) return recordFailedTry(context, lease, `target: ${problem}`)
  } catch (error) {
    // A foreign account stays as it is, and the lease stays `revoking`: an admin has to see why it looks foreign.
    if (!(error instanceof ProviderError) || error.reason === 'unreachable') throw error
    return recordFailedTry(context, lease, `target: ${error.message}`)
  }
  await markAbsent(context, lease)
}

/** An entry of its own, because that of a revocation is older, and because objects may be gone before their account is. */
export async function recordObjects(
  context: Context,
  { orgId, id, targetId, resourceRef }: Ending,
  { dropped, reassigned }: { dropped: readonly string[]; reassigned: readonly string[] },
): Promise<void> {
  if (dropped.length + reassigned.length === 0) return
  const metadata = { targetId, resourceRef, dropped, reassigned }
  await unit(context, system, async (_, record) =>
    record({ orgId, action: 'lease.cleaned_up', resourceId: id, metadata }),
  )
}

/** It is not on the target now. While what would make it may still be on its way there, that is no end: it is looked for again. */
export async function markAbsent(context: Context, lease: Ending): Promise<void> {
  const now = context.now().getTime()
  const from = Date.parse(lease.endingSince)
  if (now >= from) return markEnded(context, lease)
  const next = Math.min(from, now + pauseMs(lease))
  await scheduleTry(context.db, lease, new Date(next).toISOString(), null)
}

/** Nothing of it is on the target any more. Its end is in the trail; that of one which was revoked is there already. */
async function markEnded(context: Context, lease: Ending): Promise<void> {
  await unit(context, system, async (db, record) => {
    const moved = await moveLease(db, lease, 'gone', lease.endsAs)
    const { orgId, id, targetId, resourceRef } = lease
    if (moved && lease.endsAs === 'expired')
      record({ orgId, action: 'lease.expired', resourceId: id, metadata: { targetId, resourceRef } })
  })
}

export async function recordFailedTry(context: Context, lease: Ending, lastError: string | null): Promise<void> {
  const now = context.now().getTime()
  if (now - Date.parse(lease.endingSince) > giveUpAfterMs) return giveUp(context, lease, lastError)
  await postpone(context, lease, lastError)
}

/** The next try comes after a pause. Time on a paused target alone gives no lease up: nobody has tried. */
async function postpone(context: Context, lease: Ending, lastError: string | null): Promise<void> {
  const next = new Date(context.now().getTime() + pauseMs(lease)).toISOString()
  await scheduleTry(context.db, lease, next, lastError)
}

const pauseMs = ({ tries }: Ending) => Math.min(pauseMaxSeconds, firstPauseSeconds * 2 ** tries) * 1000

/** After a day of tries an admin has to look: the account may still be there. */
async function giveUp(context: Context, lease: Ending, lastError: string | null): Promise<void> {
  await unit(context, system, async (db, record) => {
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
