import type { Sql } from '../../db/database.ts'
import type { Org } from '../orgs/scope.ts'
import { absentFrom, findLeasesRequestedBy, lockLease } from './ledger-store.ts'
import { leaseLifecycle } from './lifecycle.ts'
import { beginRevocation, type Revoking } from './revocation.ts'
import type { Lease } from './scope.ts'

/** Lists the leases with an account on their target that a person or a token of theirs requested. */
export const listLeasesRequestedBy = async (db: Sql, org: Org, userId: string) =>
  (await findLeasesRequestedBy(db, org, userId)).map(named)

const named = ({ id, provider, resourceRef }: Lease) => ({ id, name: resourceRef ?? provider })

/**
 * Starts the removal of the accounts of these leases, and returns the leases. The job of the ledger removes the accounts
 * and tries again until they are gone.
 */
export async function revokeLeasesRequestedBy(
  work: Revoking & { org: Org },
  userId: string,
): Promise<{ id: string; name: string }[]> {
  const revoked = []
  for (const lease of await findLeasesRequestedBy(work.db, work.org, userId)) {
    const stored = await lockLease(work.db, lease)
    if (!stored || leaseLifecycle.next(stored.status, 'end') === undefined) continue
    // The account of a lease that is being made may still appear.
    await beginRevocation(work, stored, stored.status === 'creating' ? absentFrom(stored, work.now) : work.now)
    revoked.push(named(lease))
  }
  return revoked
}
