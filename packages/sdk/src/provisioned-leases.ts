import type { Answer } from '@skerry/contract/endpoint'
import type { leases } from '@skerry/contract/leases/endpoints'
import type { Client } from './client.ts'
import { clientError, SkerryError } from './errors.ts'
import { sleep } from './transport.ts'

// Leases whose accounts a provisioner makes. Web pages use this module too, because it needs no key.

/** A lease in a response of the server. It does not contain the credential. */
export type Lease = Answer<typeof leases.get>['lease']

/**
 * The service token of the provisioner that signs in to a target. Null if the server signs in itself.
 *
 * @example const tokenId = provisionerOf(target.config)
 */
export function provisionerOf(config: object): string | null {
  const { executor, provisionerTokenId } = config as { executor?: unknown; provisionerTokenId?: unknown }
  return executor === 'provisioner' && typeof provisionerTokenId === 'string' ? provisionerTokenId : null
}

/** How long a client waits for the account. After this time the server treats the lease as failed, too. */
const madeAfterMaxMs = 90_000
const lookAgainMs = 500

/**
 * Waits until the provisioner has made the account, 90 seconds at most, and returns the lease. Returns at once if the
 * server made the account.
 *
 * @param first the lease in the server's first answer.
 * @throws SkerryError `conflict` with the target's message, `malformed_answer`; RefusedError; UnavailableError.
 * @example
 * const first = await client.leases.get({ params: { orgId, leaseId } })
 * const lease = await madeLease(client, first.lease, { orgId, target })
 */
export async function madeLease(
  client: Client,
  first: Lease,
  wish: { orgId: string; target: { config: object }; signal?: AbortSignal | undefined },
): Promise<Lease> {
  const { orgId, target, signal } = wish
  const until = Date.now() + madeAfterMaxMs
  let lease = first
  while (['pending', 'creating'].includes(lease.status) && provisionerOf(target.config) && Date.now() < until) {
    await sleep(lookAgainMs, signal)
    lease = (await client.leases.get({ params: { orgId, leaseId: first.id } }, signal ? { signal } : {})).lease
    checkSame(lease, first)
  }
  if (lease.status === 'failed' || lease.status === 'revoking')
    throw new SkerryError('conflict', lease.lastError ?? 'the lease could not be made')
  return lease
}

function checkSame(lease: Lease, first: Lease): void {
  if (lease.id !== first.id || lease.resourceRef !== first.resourceRef || lease.expiresAt !== first.expiresAt)
    throw clientError('malformed_answer', 'the server returned another lease than before')
}
