import { SkerryError } from '@skerry/sdk/errors'
import { allPages } from '../all-pages.ts'
import { api } from '../api.ts'
import { keyring } from '../keyring.ts'
import { invalidate, orgQueries } from '../queries.ts'
import { knownRecoveryKey } from './covering.ts'
import type { RecoveryRequest } from './queries.ts'

/** Whose shares are not of the recovery key. */
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

/** Asks the custodians for a member. */
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

/** Gives the person's own share to a target whose words were compared. */
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
 * The shares come together in the keyring's worker of the person whom the request is for, and nowhere else -> what that
 * person can read again. `granted` is null where too few shares were of the recovery key.
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

/** Asks the custodians for a drill, whose target this browser makes. */
export async function beginDrill(orgId: string): Promise<RecoveryRequest> {
  await neededKey(orgId)
  const { publicKeyJwk, kept } = await keyring.call('newDrill', {})
  const body = { targetPublicKeyJwk: publicKeyJwk, drill: true }
  const { request } = await api.recoveryRequests.open({ params: { orgId }, body })
  localStorage.setItem(placeOf(request.id), kept)
  return request
}

/** Whether this browser began that drill: it alone has its target. */
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

/** Sealed under the person's own key: a browser's storage keeps it for the days that a drill may take. */
const placeOf = (requestId: string) => `skerry-drill-${requestId}`
