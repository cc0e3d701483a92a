import type { LeaseConfig } from '@skerry/contract/leases/providers'
import type { Tx } from '../../db/database.ts'
import type { Context } from '../../http/context.ts'
import { Reply } from '../../http/route.ts'
import { instant, newId } from '../../kernel/context.ts'
import { fail } from '../../kernel/errors.ts'
import type { Executor } from './executor.ts'
import type { Ending } from './ledger-store.ts'
import type { Status } from './lifecycle.ts'
import { deleteCheck, insertJob, isChecking, isTokenInForce } from './provisioner-store.ts'
import { findLease, findTarget, type Lease, type LeaseTarget, toResponse } from './scope.ts'
import { recordFailedTry } from './tries.ts'
import { ring, secondsAfter, type Waiting, waitFor } from './waiting.ts'

/**
 * The executor for targets that a process in the customer's network signs in to. This server stores a job for that
 * process, the provisioner, and waits a while for its report. It cannot decrypt the credential itself.
 */
export const provisionedBy = (tokenId: string): Executor => ({
  /** If a lease is revoked while its provisioner makes it, the provisioner's next job removes it. */
  canEndWhileMaking: true,
  tryCredential: async () => ({ trigger: 'replace', server: null, notes: [] }),

  async requestCheck(db, target, now) {
    await checkProvisioner(db, target.orgId, tokenId, now)
    await deleteCheck(db, target)
    await insertCheck(db, target, now)
  },

  async waitForCheck(waiting, target) {
    ring(tokenId)
    return waitForCheck(waiting, target)
  },

  async verify(input) {
    const { target, now, transaction } = input
    await transaction(async ({ db, audit }) => {
      await checkProvisioner(db, target.orgId, tokenId, now)
      await insertCheck(db, target, now)
      audit('lease_target.verification_requested', target.id)
    })
    ring(tokenId)
    return waitForCheck(input, target)
  },

  async requestLease({ db, audit }, { target, lease, verifier, now }) {
    const { orgId, id: targetId } = target
    await checkProvisioner(db, orgId, tokenId, now)
    await insertJob(db, orgId, { id: newId('provisionerJob'), targetId, leaseId: lease.id, verifier, now })
    const { provider, expiresAt } = lease
    audit('lease.requested', lease.id, { targetId, provider, expiresAt })
  },

  /** A failed mint is undone when its provisioner reports the failure. */
  async make({ input, target, lease }) {
    ring(tokenId)
    return answerMint(input, target, lease)
  },

  async end(context, _, due) {
    for (const lease of due) await requestEnd(context, lease)
    ring(tokenId)
    return true
  },

  waitForEnd: (waiting, lease) => waitForLease(waiting, lease, ['revoking']),
})

/** Refuses a service token that is not in force, because nobody would ever claim the job. */
async function checkProvisioner(db: Tx, orgId: string, tokenId: string, now: string): Promise<void> {
  if (!(await isTokenInForce(db, orgId, tokenId, now)))
    throw fail('conflict', 'the target’s provisionerTokenId is not a valid service token')
}

const insertCheck = (db: Tx, { orgId, id: targetId }: LeaseTarget, now: string) =>
  insertJob(db, orgId, { id: newId('provisionerJob'), targetId, now })

/** Stores a removal job for the provisioner. Each later try counts as failed, until the lease is orphaned. */
async function requestEnd(context: Context, lease: Ending): Promise<void> {
  const { orgId, id: leaseId, targetId } = lease
  const job = { id: newId('provisionerJob'), targetId: targetId as string, leaseId, now: instant(context) }
  await insertJob(context.db, orgId, job)
  const lastError = lease.tries === 0 ? null : (lease.lastError ?? 'the provisioner has not done it yet')
  await recordFailedTry(context, lease, lastError)
}

/** How long the request of an admin waits for the provisioner. */
const waitSeconds = 20

const withLimit = ({ context, now, isGone }: Waiting) => ({ context, isGone, until: secondsAfter(now, waitSeconds) })

/** Returns the target once it has been checked, or as it is after the time limit. */
async function waitForCheck(waiting: Waiting, target: LeaseTarget): Promise<LeaseTarget> {
  const { db } = waiting.context
  const done = async () => ((await isChecking(db, target)) ? undefined : true)
  await waitFor(target.id, withLimit(waiting), done)
  const found = await findTarget(db, { id: target.orgId }, target.id)
  if (!found) throw fail('not_found', 'no such target')
  return found
}

/** Returns the lease once it has left these states, or as it is after the time limit. */
async function waitForLease(waiting: Waiting, { orgId, id }: Lease, states: Status[]): Promise<Lease> {
  const read = async () => (await findLease(waiting.context.db, { id: orgId }, id)) as Lease
  const look = async () => {
    const lease = await read()
    return states.includes(lease.status) ? undefined : lease
  }
  return (await waitFor(id, withLimit(waiting), look)) ?? read()
}

/** Answers a mint with the connection of its account, which may not exist yet. */
async function answerMint(waiting: Waiting, target: LeaseTarget, begun: Lease) {
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
