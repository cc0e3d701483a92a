import { createHash } from 'node:crypto'
import type { leases } from '@skerry/contract/leases/endpoints'
import { cloudTtlDefaultMaxSeconds, isCloud, mongodbUserName } from '@skerry/contract/leases/facts'
import { leaseProviders } from '@skerry/contract/leases/providers'
import { verifierProblem } from '@skerry/contract/leases/verifiers'
import { vendorName } from '@skerry/contract/vendors'
import type { Tx } from '../../db/database.ts'
import { checkPublicKey } from '../../http/public-key.ts'
import type { In, Out } from '../../http/route.ts'
import { checkShape } from '../../http/validate.ts'
import { transactWithAudit } from '../../kernel/audit.ts'
import { instant } from '../../kernel/context.ts'
import { fail, Refusal } from '../../kernel/errors.ts'
import { lockMaker } from '../../model/people/made.ts'
import { checkQuota } from '../billing/quota.ts'
import type { InOrg } from '../orgs/scope.ts'
import type { Executor } from './executor.ts'
import { executorOf } from './executors.ts'
import { endTarget } from './jobs.ts'
import { absentFrom, beginEnd, findLeaseNamed, insertLease, lockLease, moveLease } from './ledger-store.ts'
import { checkNotPaused } from './pause.ts'
import { findTarget, type Lease, type LeaseTarget } from './scope.ts'
import { changedNothing, isAnswered } from './session.ts'

type Mint = In<typeof leases.create, InOrg>

/**
 * Stores the lease, then lets its executor make it on the target and mark it as active. A mint that stops in between is
 * in the ledger, and is undone here or by the job that ends leases.
 */
export async function create(input: Mint): Out<typeof leases.create> {
  const target = await findTarget(input.db, input.org, input.body.targetId)
  if (!target) throw fail('not_found', 'body.targetId: no such target')
  checkNotPaused(target)
  checkMint(target, input.body)
  const executor = executorOf(target)
  const lease = await begin(input, target, executor)
  return executor.make({ input, target, lease, undo: (error) => undo(input, lease, error) })
}

/** Checks a mint against its target. The error for a lifetime that is too long names the limit. */
function checkMint(target: LeaseTarget, body: Mint['body']): void {
  if (body.provider !== target.provider)
    throw fail('invalid_request', `body.provider: the target’s provider is ${vendorName(target.provider)}`)
  const { mint, ttlSeconds } = leaseProviders[body.provider]
  checkShape(mint, body, 'body')
  const { maxTtlSeconds } = target.config as { maxTtlSeconds?: number }
  const max = maxTtlSeconds ?? (isCloud(body.provider) ? cloudTtlDefaultMaxSeconds : ttlSeconds.max)
  if (body.ttlSeconds > max) throw fail('invalid_request', `body.ttlSeconds: this target allows ${max} at most`)
  if (body.verifier !== undefined) {
    const problem = verifierProblem(body.provider as 'postgres', body.verifier)
    if (problem !== null) throw fail('invalid_request', `body.verifier: ${problem}`)
  }
  if (body.recipientPublicKey !== undefined) checkPublicKey('body.recipientPublicKey', body.recipientPublicKey)
}

const begin = (
  { context, org, body, principal, now, newId, transaction }: Mint,
  target: LeaseTarget,
  executor: Executor,
): Promise<Lease> =>
  transaction(async ({ db, enqueue, audit }) => {
    await checkQuota(context, db, org, 'leases.active')
    await lockMaker(db, org, principal)
    await enqueue(endTarget, { orgId: org.id, targetId: target.id }, { startAfterSeconds: body.ttlSeconds })
    const id = newId('lease')
    const resourceRef = body.provider === 'mongodb' ? mongodbUserName(id) : (body.roleName ?? null)
    const lease = await insertLease(db, org, {
      id,
      targetId: target.id,
      provider: body.provider,
      resourceRef,
      verifierDigest: body.verifier === undefined ? null : sha256Hex(body.verifier),
      requestedBy: principal,
      ttlSeconds: body.ttlSeconds,
      createdAt: now,
      expiresAt: new Date(Date.parse(now) + body.ttlSeconds * 1000).toISOString(),
    })
    if (!lease) throw await whyNotInserted(db, target, resourceRef)
    await executor.requestLease({ db, audit }, { target, lease, verifier: body.verifier, now })
    return lease
  })

/** Builds the error. The name is free again once the other lease has ended, and its account is known to be gone. */
async function whyNotInserted(db: Tx, { orgId, id: targetId }: LeaseTarget, name: string | null): Promise<Refusal> {
  const other = name === null ? undefined : await findLeaseNamed(db, { id: orgId }, targetId, name)
  if (other)
    return fail(
      'conflict',
      `body.roleName: the lease ${other.id} (${other.status}) of this target has the name ${name}`,
    )
  const target = await findTarget(db, { id: orgId }, targetId)
  if (!target) return fail('not_found', 'body.targetId: no such target')
  return fail('conflict', `body.roleName: a lease of this target had the name ${name} until now: try again`)
}

const sha256Hex = (text: string) => createHash('sha256').update(text).digest('hex')

/**
 * Undoes a failed mint. A lease that never reached the target, or that the target refused, left nothing there. Any
 * other lease may be half made, or may still appear if the target has not answered. This is not the caller's
 * transaction: a caller who has lost the right to mint in the meantime must not leave an account behind.
 */
async function undo({ context, origin }: Mint, lease: Lease, error: unknown): Promise<void> {
  const lastError = error instanceof Refusal ? error.message : 'the server failed; its log has the cause'
  const { orgId, targetId } = lease
  const now = instant(context)
  await transactWithAudit(context, origin, async (db, record) => {
    const stored = await lockLease(db, lease)
    if (!stored) return
    const isClean = stored.status === 'pending' || changedNothing(error)
    const moved = isClean
      ? await moveLease(db, lease, 'fail', 'failed', { lastError })
      : await beginEnd(db, lease, {
          as: 'failed',
          now,
          absentFrom: isAnswered(error) ? now : absentFrom(lease, now),
          lastError,
        })
    if (!moved) return
    record({ orgId, action: 'lease.failed', resourceId: lease.id, metadata: { targetId, isClean } })
    if (!isClean && targetId) await context.queue.enqueue(db, endTarget, { orgId, targetId })
  })
  context.queue.nudge(endTarget)
}
