import type { Tx } from '../../db/database.ts'
import type { Work } from '../../http/route.ts'
import { beginEnd, type Ending, moveLease } from './ledger-store.ts'
import { deleteJobOf } from './provisioner-store.ts'
import type { Lease } from './scope.ts'

export interface Revoking {
  db: Tx
  now: string
  principal: { id: string }
  audit: Work<'lease.revoked'>['audit']
}

/**
 * Starts the removal of the account of a locked lease that has not ended. Before `absentFrom` the account may still appear.
 * A lease of which nothing was sent to its target ends at once.
 */
export async function beginRevocation(
  { db, now, principal, audit }: Revoking,
  lease: Lease,
  absentFrom: string,
): Promise<Lease | Ending> {
  audit('lease.revoked', lease.id, { targetId: lease.targetId, resourceRef: lease.resourceRef })
  const begun = await beginEnd(db, lease, { as: 'revoked', now, revokedById: principal.id, absentFrom })
  if (lease.status !== 'pending') return begun ?? lease
  await deleteJobOf(db, lease)
  return (await moveLease(db, lease, 'gone', 'revoked')) ?? lease
}
