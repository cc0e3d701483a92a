import type { MadeLease } from '@skerry/sdk/internal/lease-making'
import { madeLease } from '@skerry/sdk/internal/provisioned-leases'
import { api } from '../api.ts'
import { keyring } from '../keyring.ts'
import { checkTarget } from './known-targets.ts'
import type { LeaseTarget } from './queries.ts'

export interface LeaseWish {
  target: LeaseTarget
  ttlSeconds: number
  /** The name of the database account. A new one is generated unless given. */
  roleName?: string
  /** Login names of a certificate. */
  principals?: string[]
}

/**
 * Creates a lease. The keyring's worker makes its password or key, and checks the server's answer. If the answer does
 * not match the request, or nobody could use the lease any more, it is revoked.
 */
export async function makeLease(orgId: string, { target, ...wish }: LeaseWish): Promise<MadeLease> {
  await checkTarget(orgId, target)
  const { id: targetId, provider, config } = target
  const made = await keyring.callLocked('prepareLease', { orgId, target: { id: targetId, provider, config }, ...wish })
  const body = { provider, targetId, ttlSeconds: wish.ttlSeconds, ...made }
  const answer = await api.leases.create({ params: { orgId }, body })
  try {
    const lease = await madeLease(api, answer.lease, { orgId, target })
    return await keyring.callLocked('openLease', { ...answer, lease })
  } catch (error) {
    await api.leases.revoke({ params: { orgId, leaseId: answer.lease.id } }).catch(() => {})
    throw error
  }
}
