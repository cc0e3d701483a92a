import type { leases } from '@skerry/contract/leases/endpoints'
import { byCreation, pageFrom, pageOf } from '../../http/page.ts'
import type { In, Out } from '../../http/route.ts'
import { fail } from '../../kernel/errors.ts'
import type { InOrg } from '../orgs/scope.ts'
import { endOne } from './ending.ts'
import { executorOf } from './executors.ts'
import { type Ending, listLeases, lockLease, moveLease } from './ledger-store.ts'
import { leaseLifecycle } from './lifecycle.ts'
import { beginRevocation } from './revocation.ts'
import { findTarget, type Lease, type OnLease, toResponse } from './scope.ts'

export async function list({ db, org, query }: In<typeof leases.list, InOrg>): Out<typeof leases.list> {
  const cursor = pageFrom(query, 'lease')
  const filter = { requestedById: query.requestedById ?? null, isLive: query.live === 'true' }
  const page = pageOf(await listLeases(db, org, filter, cursor), cursor, byCreation)
  return { leases: page.rows.map(toResponse), nextCursor: page.nextCursor }
}

export async function get({ lease }: In<typeof leases.get, OnLease>): Out<typeof leases.get> {
  return { lease: toResponse(lease) }
}

/**
 * Stores the revocation first, so that it survives a crash, and then removes the account. If the target cannot be
 * reached, the answer says `revoking` and the job tries again.
 */
export async function revoke(input: In<typeof leases.revoke, OnLease>): Out<typeof leases.revoke> {
  const { context, lease, principal, now, transaction } = input
  const target = lease.targetId === null ? undefined : await findTarget(input.db, input.org, lease.targetId)
  const executor = executorOf(target)
  const ending = await transaction(async ({ db, audit }): Promise<Lease | Ending> => {
    const stored = await lockLease(db, lease)
    if (!stored) throw fail('not_found', 'no such lease')
    // The lease has ended, or its account is being removed already.
    if (leaseLifecycle.next(stored.status, 'end') === undefined) return stored
    if (stored.status === 'creating' && !executor.canEndWhileMaking)
      throw fail('conflict', 'the lease is being made: try again in a moment')
    return beginRevocation({ db, now, principal, audit }, stored, now)
  })
  if (!('endsAs' in ending)) return { lease: toResponse(ending) }
  const ended = await endOne(context, ending)
  return { lease: toResponse(await executor.waitForEnd(input, ended)) }
}

/**
 * Ends an orphaned lease in the ledger alone. Its account could not be removed within a day, and an admin has dealt
 * with the account.
 */
export async function forget({ db, lease, audit }: In<typeof leases.forget, OnLease>): Out<typeof leases.forget> {
  const stored = await lockLease(db, lease)
  if (!stored) throw fail('not_found', 'no such lease')
  leaseLifecycle.check(stored.status, 'forget')
  const forgotten = await moveLease(db, lease, 'forget', 'revoked', {
    lastError: 'forgotten by an admin: the account may still be on the target',
  })
  audit('lease.forgotten', lease.id, { resourceRef: lease.resourceRef })
  return { lease: toResponse(forgotten ?? stored) }
}
