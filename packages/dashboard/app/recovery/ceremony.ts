import { SkerryError } from '@skerry/sdk/errors'
import { allPages } from '../all-pages.ts'
import { api } from '../api.ts'
import { keyring } from '../keyring.ts'
import { invalidate, orgQueries } from '../queries.ts'
import { knownRecoveryKey } from './covering.ts'
import type { RecoveryRequest } from './queries.ts'

/** Custodians whose share does not belong to the recovery key. */
export type FalseShares = { userId: string; shareIndex: number }[]

async function neededKey(orgId: string): Promise<string> {
  const key = await knownRecoveryKey(orgId)
  if (key === null) throw new SkerryError('not_found', 'recovery is not set up')
  return key
}

async function ceremonyOf(orgId: string, id: string) {
  const recoveryPublicKeyJwk = await neededKey(orgId)
  const { request, shares } = await api.recoveryRequests.get({ params: { orgId, recoveryRequestId: id } })
  return { orgId, request, shares, recoveryPublicKeyJwk }
}

/** Opens a recovery request for a member. */
export async function openRequest(
  orgId: string,
  target: { userId: string; publicKeyJwk: string },
  reason: string,
): Promise<void> {
  const body = {
    targetPublicKeyJwk: target.publicKeyJwk,
    targetType: 'user' as const,
    targetId: target.userId,
    ...(reason.trim() === '' ? {} : { reason: reason.trim() }),
  }
  await api.recoveryRequests.open({ params: { orgId }, body })
}

/** Contributes the person's own share to a request. The words of the target's key must have been compared before. */
export async function contribute(orgId: string, request: RecoveryRequest): Promise<RecoveryRequest> {
  const recoveryPublicKeyJwk = await neededKey(orgId)
  const { share } = await api.recovery.share({ params: { orgId } })
  const { shareIndex, threshold, wrappedShare } = share
  const contributedShare = await keyring.call('contributeShare', {
    ...{ wrappedShare, recoveryPublicKeyJwk },
    targetPublicKeyJwk: request.targetPublicKeyJwk,
    place: { orgId, shareIndex, threshold },
  })
  const params = { orgId, recoveryRequestId: request.id }
  const answer = await api.recoveryRequests.contribute({ params, body: { shareIndex, contributedShare } })
  return answer.request
}

/**
 * Combines the shares in the keyring's worker of the person who is recovered, and nowhere else. Returns the
 * environments that the person can read again. `granted` is null if too few shares belonged to the recovery key.
 */
export async function complete(
  orgId: string,
  requestId: string,
  userId: string,
): Promise<{ granted: string[] | null; falseShares: FalseShares }> {
  const ceremony = await ceremonyOf(orgId, requestId)
  const params = { orgId }
  const pages = await allPages((query) => api.recovery.envKeys({ params, query }))
  const covered = pages.flatMap(({ grants }) => grants)
  const { grants, falseShares } = await keyring.call('recoverKeys', { ...ceremony, covered })
  if (grants === null) return { granted: null, falseShares }
  const body = { principalType: 'user' as const, principalId: userId, grants }
  await api.recoveryRequests.complete({ params: { orgId, recoveryRequestId: requestId }, body })
  await invalidate(orgQueries(orgId))
  return { granted: grants.map(({ environmentId }) => environmentId), falseShares }
}

/** Opens a recovery drill. This browser creates the key that the shares are sent to. */
export async function beginDrill(orgId: string): Promise<RecoveryRequest> {
  await neededKey(orgId)
  const { publicKeyJwk, kept } = await keyring.call('newDrill', {})
  const body = { targetPublicKeyJwk: publicKeyJwk, drill: true }
  const { request } = await api.recoveryRequests.open({ params: { orgId }, body })
  localStorage.setItem(placeOf(request.id), kept)
  return request
}

/** Whether this browser began the drill. Only that browser has the drill's key. */
export const isOwnDrill = ({ id, drill }: RecoveryRequest): boolean =>
  drill && localStorage.getItem(placeOf(id)) !== null

export async function endDrill(
  orgId: string,
  requestId: string,
): Promise<{ passed: boolean; falseShares: FalseShares }> {
  const ceremony = await ceremonyOf(orgId, requestId)
  const kept = localStorage.getItem(placeOf(requestId)) ?? ''
  const outcome = await keyring.call('endDrill', { ...ceremony, kept })
  if (!outcome.passed) return outcome
  await api.recoveryRequests.complete({ params: { orgId, recoveryRequestId: requestId }, body: { grants: [] } })
  localStorage.removeItem(placeOf(requestId))
  await invalidate(orgQueries(orgId, 'recovery'))
  return outcome
}

/**
 * The localStorage key of a drill's private key, which is sealed under the person's own key. It must last for the days
 * that a drill may take.
 */
const placeOf = (requestId: string) => `skerry-drill-${requestId}`
