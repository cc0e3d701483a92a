import type { leases } from '@skerry/contract/leases/endpoints'
import { type LeaseTag, leaseProviders } from '@skerry/contract/leases/providers'
import type { RemoteSession } from '@skerry/providers/children/remote'
import type { Issued, Lease as ToMake } from '@skerry/providers/leases/provider'
import { ProviderError } from '@skerry/providers/provider-error'
import type { Context } from '../../http/context.ts'
import { type In, Reply } from '../../http/route.ts'
import { fail, Refusal } from '../../kernel/errors.ts'
import { wrapTo } from '../../keys/keypairs.ts'
import type { Executor, Minting } from './executor.ts'
import { type Ending, moveLease } from './ledger-store.ts'
import { type Lease, type LeaseTarget, type OnTarget, toResponse } from './scope.ts'
import { onTarget } from './session.ts'
import { recordReach } from './target-store.ts'
import { markAbsent, recordFailedTry, recordObjects } from './tries.ts'

/** The executor for targets that this server signs in to. It does everything at once and waits for nothing. */
export const broker: Executor = {
  canEndWhileMaking: false,
  async tryCredential(context, target) {
    return { trigger: 'reach', ...(await onTarget(context, target, verifySession)) }
  },
  async requestCheck() {},
  waitForCheck: async (_, target) => target,
  verify,
  async requestLease() {},
  make,
  end,
  waitForEnd: async (_, lease) => lease,
}

const verifySession = (session: RemoteSession) => session.verify()

/** Records the result of the check, whether the target accepted or refused it. */
async function verify({ context, target, now, transaction }: In<typeof leases.verifyTarget, OnTarget>) {
  const found = await onTarget(context, target, verifySession).catch((error: unknown) => {
    if (error instanceof Refusal) return error
    throw error
  })
  const reached = await transaction(async ({ db, audit }) => {
    const reach = found instanceof Refusal ? { lastError: found.message } : { lastError: null, ...found }
    audit('lease_target.verified', target.id, { ok: reach.lastError === null })
    return recordReach(db, target, { ...reach, now })
  })
  if (!reached) throw fail('not_found', 'no such target')
  return reached
}

async function make({ input, target, lease, undo }: Minting) {
  try {
    return await makeNow(input, target, lease)
  } catch (error) {
    await undo(error)
    throw error
  }
}

async function makeNow({ context, body, transaction }: Minting['input'], target: LeaseTarget, lease: Lease) {
  const { provider, targetId, recipientPublicKey, ...asked } = body
  const issued = await onTarget(context, target, async (session) => {
    const reached = await moveLease(context.db, lease, 'create', 'creating')
    if (!reached) throw fail('conflict', 'the lease has already ended')
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

/** Wraps a credential that the target made to the caller's public key, so that it leaves this server encrypted. */
async function resultOf({ result, credential }: Issued<LeaseTag>, recipientPublicKey: string | undefined) {
  if (credential === undefined) return result
  if (recipientPublicKey === undefined) throw new Error('a provider that makes credentials asks for a recipient')
  return { ...result, wrappedCredential: await wrapTo(recipientPublicKey, new TextEncoder().encode(credential)) }
}

/** Ends leases one after the other over one connection. */
async function end(context: Context, target: LeaseTarget, due: readonly Ending[], waitMs?: number): Promise<boolean> {
  const left = new Set(due)
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

/** An account that cannot be removed, for example because it owns objects, does not stop the removal of the others. */
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
