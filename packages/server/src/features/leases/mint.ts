import { createHash } from 'node:crypto'
import type { leases } from '@skerry/contract/leases/endpoints'
import { cloudTtlDefaultMaxSeconds, mongodbUserName } from '@skerry/contract/leases/facts'
import { type LeaseTag, leaseProviders } from '@skerry/contract/leases/providers'
import { verifierProblem } from '@skerry/contract/leases/verifiers'
import type { Issued, Lease as ToMake } from '@skerry/providers/leases/provider'
import type { Tx } from '../../db/database.ts'
import { checkPublicKey } from '../../http/public-key.ts'
import { type In, type Out, Reply } from '../../http/route.ts'
import { checkShape } from '../../http/validate.ts'
import { instant } from '../../kernel/context.ts'
import { fail, Refusal } from '../../kernel/errors.ts'
import { unit } from '../../kernel/unit.ts'
import { wrapTo } from '../../keys/keypairs.ts'
import { checkQuota } from '../billing/quota.ts'
import type { InOrg } from '../orgs/scope.ts'
import { endTarget } from './jobs.ts'
import { absentFrom, beginEnd, findLeaseNamed, insertLease, lockLease, moveLease } from './ledger-store.ts'
import { checkNotPaused } from './pause.ts'
import { answerMint, checkProvisioner, provisionerOf } from './provisioned.ts'
import { insertJob } from './provisioner-store.ts'
import { findTarget, type Lease, type LeaseTarget, toResponse } from './scope.ts'
import { changedNothing, isAnswered, onTarget } from './session.ts'
import { ring } from './waiting.ts'

type Mint = In<typeof leases.create, InOrg>

/**
 * Writes the lease down, makes it on the target, and writes down that it is there. What stops in between is in the ledger,
 * and is undone: here, or by the job that ends leases.
 */
export async function create(input: Mint): Out<typeof leases.create> {
  const target = await findTarget(input.db, input.org, input.body.targetId)
  if (!target) throw fail('not_found', 'body.targetId: no such target')
  checkNotPaused(target)
  checkMint(target, input.body)
  const lease = await begin(input, target)
  const tokenId = provisionerOf(target)
  if (tokenId !== null) {
    ring(tokenId)
    return answerMint(input, target, lease)
  }
  try {
    return await make(input, target, lease)
  } catch (error) {
    await undo(input, lease, error)
    throw error
  }
}

/** Lifetimes beyond what a target allows name the limit. */
function checkMint(target: LeaseTarget, body: Mint['body']): void {
  if (body.provider !== target.provider)
    throw fail('invalid_request', `body.provider: the target is one of ${target.provider}`)
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

/** Clouds grant no more than this without being told to. */
const isCloud = (provider: LeaseTag): boolean => provider === 'cloud-a' || provider === 'cloud-b'

const begin = ({ context, org, body, principal, now, newId, transaction }: Mint, target: LeaseTarget): Promise<Lease> =>
  transaction(async ({ db, enqueue, audit }) => {
    await checkQuota(context, db, org, 'leases.active')
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
    const tokenId = provisionerOf(target)
    if (tokenId === null) return lease
    await checkProvisioner(db, org.id, tokenId, now)
    const { verifier } = body
    await insertJob(db, org.id, { id: newId('provisionerJob'), targetId: target.id, leaseId: lease.id, verifier, now })
    audit('lease.requested', lease.id, { targetId: target.id, provider: body.provider, expiresAt: lease.expiresAt })
    return lease
  })

/** The name is free again once the other lease has ended, and its account is known to be gone. */
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

async function make(input: Mint, target: LeaseTarget, lease: Lease) {
  const { context, body, transaction } = input
  const { provider, targetId, recipientPublicKey, ...asked } = body
  const issued = await onTarget(context, target, async (session) => {
    const reached = await moveLease(context.db, lease, 'create', 'creating')
    if (!reached) throw fail('conflict', 'the lease has ended already')
    const toMake = { ...asked, id: lease.id, expiresAt: new Date(lease.expiresAt) }
    return session.create(toMake as unknown as ToMake<LeaseTag>)
  })
  const result = await resultOf(issued, recipientPublicKey)
  const { resourceRef } = issued
  const active = await transaction(async ({ db, audit }) => {
    const moved = await moveLease(db, lease, 'activate', 'active', { resourceRef })
    if (!moved) throw fail('conflict', 'the lease ended while it was made')
    audit('lease.created', lease.id, { targetId, provider, resourceRef, expiresAt: lease.expiresAt })
    return moved
  })
  return new Reply(201, { lease: toResponse(active), [leaseProviders[provider].resultKey]: result })
}

/** What the target made up leaves this server wrapped to the key that the caller sent for it. */
async function resultOf({ result, credential }: Issued<LeaseTag>, recipientPublicKey: string | undefined) {
  if (credential === undefined) return result
  if (recipientPublicKey === undefined) throw new Error('a provider that makes credentials asks for a recipient')
  return { ...result, wrappedCredential: await wrapTo(recipientPublicKey, new TextEncoder().encode(credential)) }
}

/**
 * Of what never reached the target, or was refused there, nothing is left. Anything else may be there half made, or may come
 * yet where the target has not answered. Not in a
 * transaction of the caller's: one who has lost the right to mint meanwhile must not leave an account behind.
 */
async function undo({ context, origin }: Mint, lease: Lease, error: unknown): Promise<void> {
  const lastError = error instanceof Refusal ? error.message : 'the server failed; its log has the cause'
  const { orgId, targetId } = lease
  const now = instant(context)
  await unit(context, origin, async (db, record) => {
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
