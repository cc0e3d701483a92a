import type { Sql, Tx } from '../../db/database.ts'
import type { Work } from '../../http/route.ts'
import type { Org } from '../orgs/scope.ts'
import { absentFrom, beginEnd, listLeasesOf, lockLease, moveLease } from './ledger-store.ts'
import { leaseLifecycle } from './lifecycle.ts'
import { deleteJobOf } from './provisioner-store.ts'
import type { Lease } from './scope.ts'

/** Lists the leases with an account on their target that a person or a token of theirs requested. */
export const leasesOf = async (db: Sql, org: Org, userId: string) => (await listLeasesOf(db, org, userId)).map(named)

const named = ({ id, provider, resourceRef }: Lease) => ({ id, name: resourceRef ?? provider })

/**
 * Starts the removal of the accounts of these leases, and returns the leases. The job of the ledger removes the accounts
 * and tries again until they are gone.
 */
export async function revokeLeasesOf(
  work: { db: Tx; org: Org; now: string; principal: { id: string }; audit: Work<'lease.revoked'>['audit'] },
  userId: string,
): Promise<{ id: string; name: string }[]> {
  const revoked = []
  for (const lease of await listLeasesOf(work.db, work.org, userId))
    if (await end(work, lease)) revoked.push(named(lease))
  return revoked
}

async function end(
  { db, now, principal, audit }: Parameters<typeof revokeLeasesOf>[0],
  lease: Lease,
): Promise<boolean> {
  const stored = await lockLease(db, lease)
  if (!stored || leaseLifecycle.next(stored.status, 'end') === undefined) return false
  audit('lease.revoked', lease.id, { targetId: lease.targetId, resourceRef: stored.resourceRef })
  // The account of a lease that is being made may still appear.
  const appears = stored.status === 'creating' ? { absentFrom: absentFrom(stored, now) } : {}
  await beginEnd(db, lease, { as: 'revoked', now, revokedById: principal.id, ...appears })
  if (stored.status === 'pending') {
    // Nothing was sent to the target yet.
    await deleteJobOf(db, lease)
    await moveLease(db, lease, 'gone', 'revoked')
  }
  return true
}
