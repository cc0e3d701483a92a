import type { LeaseConfig } from '@skerry/contract/leases/providers'
import type { Tx } from '../../db/database.ts'
import type { Context } from '../../http/context.ts'
import { Reply } from '../../http/route.ts'
import { newId } from '../../kernel/context.ts'
import { fail } from '../../kernel/errors.ts'
import type { Status } from './lifecycle.ts'
import { insertJob, isChecking, isTokenInForce } from './provisioner-store.ts'
import { findLease, findTarget, type Lease, type LeaseTarget, toResponse } from './scope.ts'
import { secondsAfter, waitFor } from './waiting.ts'

// Targets that a process in the customer's network signs in to. This server writes down what is to be done, and waits a while.

/** How long an admin's request waits for what the provisioner does. */
const waitSeconds = 20

interface Waiting {
  context: Context
  /** When the request arrived. */
  now: string
  isGone: () => boolean
}

const withLimit = ({ context, now, isGone }: Waiting) => ({ context, isGone, until: secondsAfter(now, waitSeconds) })

/** The service token of a target's provisioner; null where this server signs in itself. */
export const provisionerOf = ({ config }: Pick<LeaseTarget, 'config'>): string | null => {
  const { executor, provisionerTokenId } = config as { executor?: string; provisionerTokenId?: string }
  return executor === 'provisioner' ? (provisionerTokenId ?? null) : null
}

/** Refuses where nobody will ever ask for the work. */
export async function checkProvisioner(db: Tx, orgId: string, tokenId: string, now: string): Promise<void> {
  if (!(await isTokenInForce(db, orgId, tokenId, now)))
    throw fail('conflict', 'the target’s provisionerTokenId is no service token that works here')
}

export const askForCheck = (db: Tx, { orgId, id: targetId }: LeaseTarget, now: string) =>
  insertJob(db, orgId, { id: newId('provisionerJob'), targetId, now })

/** The target once it has been checked, or as it is when nobody has checked it in time. */
export async function waitForCheck(waiting: Waiting, target: LeaseTarget): Promise<LeaseTarget> {
  const { db } = waiting.context
  const done = async () => ((await isChecking(db, target)) ? undefined : true)
  await waitFor(target.id, withLimit(waiting), done)
  const found = await findTarget(db, { id: target.orgId }, target.id)
  if (!found) throw fail('not_found', 'no such target')
  return found
}

/** The lease once it is in none of these states any more, or as it is then. */
export async function waitForLease(waiting: Waiting, { orgId, id }: Lease, states: Status[]): Promise<Lease> {
  const read = async () => (await findLease(waiting.context.db, { id: orgId }, id)) as Lease
  const look = async () => {
    const lease = await read()
    return states.includes(lease.status) ? undefined : lease
  }
  return (await waitFor(id, withLimit(waiting), look)) ?? read()
}

/** What a mint answers: the account, or where it will be. */
export async function answerMint(waiting: Waiting, target: LeaseTarget, begun: Lease) {
  const lease = await waitForLease(waiting, begun, ['pending', 'creating'])
  if (!['pending', 'creating', 'active'].includes(lease.status))
    throw fail('conflict', lease.lastError ?? 'the lease ended while it was made')
  return new Reply(201, { lease: toResponse(lease), connection: connectionOf(target, lease) })
}

function connectionOf({ config }: LeaseTarget, { resourceRef, expiresAt }: Lease) {
  const { connection } = config as unknown as LeaseConfig<'postgres' | 'mysql' | 'redis'>
  const database = 'database' in connection ? connection.database : (connection.db ?? 0)
  return { host: connection.host, port: connection.port, database, username: resourceRef as string, expiresAt }
}
