import { limits } from '@skerry/contract/limits'
import type { recoveryRequests } from '@skerry/contract/recovery/endpoints'
import type { Tx } from '../../db/database.ts'
import { byCreation, pageFrom, pageOf } from '../../http/page.ts'
import { checkPublicKey } from '../../http/public-key.ts'
import { type In, type Out, Reply } from '../../http/route.ts'
import { fail } from '../../kernel/errors.ts'
import { putGrants } from '../../model/grants/write.ts'
import { lockOrg } from '../../model/organizations/table.ts'
import { findName } from '../../model/people/names.ts'
import type { InOrg, Org } from '../orgs/scope.ts'
import { requestLifecycle } from './lifecycle.ts'
import {
  closeRequest,
  findPublicKey,
  insertRequest,
  insertShare,
  listPending,
  listRequests,
  listShares,
  lockCovered,
  lockRequest,
} from './request-store.ts'
import { type Custodian, isCustodian, isOrgAdmin, type OnRequest, type RecoveryRequest } from './scope.ts'
import { listCustodians, lockForRequest, lockRecovery, markDrill } from './store.ts'

/** Lists all requests for admins, the open ones for custodians, and for everyone the requests that are for them. */
export async function list(input: In<typeof recoveryRequests.list, InOrg>): Out<typeof recoveryRequests.list> {
  const { db, org, principal, query, now } = input
  const cursor = pageFrom(query, 'recoveryRequest')
  const seen = {
    all: isOrgAdmin(input),
    open: await isCustodian(db, input),
    type: principal.type,
    id: principal.id,
  }
  const page = pageOf(await listRequests(db, org, seen, now, cursor), cursor, byCreation)
  return { requests: page.rows, nextCursor: page.nextCursor }
}

/**
 * The target’s key must be the one that is stored here, because custodians compare its words and the granted keys are
 * wrapped to it. A drill uses a throw-away key that belongs to no person. A repeated call gets the request that is open:
 * two for the same key would divide the shares between them.
 */
export async function open(input: In<typeof recoveryRequests.open, InOrg>): Out<typeof recoveryRequests.open> {
  const { db, org, principal, body, now, newId, audit, emit } = input
  const { reason = null, drill = false, targetPublicKeyJwk } = body
  checkPublicKey('body.targetPublicKeyJwk', targetPublicKeyJwk)
  const recovery = await lockForRequest(db, org)
  if (!recovery) throw fail('conflict', 'recovery is not set up')
  const { threshold } = recovery
  const left = (await listCustodians(db, org)).length
  if (left < threshold)
    throw fail('conflict', `${threshold} shares are needed and ${left} custodians are left: set up recovery again`)
  const target = await targetOf(input)
  const pending = target && (await findPending(input, target))
  if (pending) return new Reply(200, { request: pending })
  const request = await insertRequest(db, org, {
    id: newId('recoveryRequest'),
    drill,
    targetPublicKeyJwk,
    targetType: target?.type ?? null,
    targetId: target?.id ?? null,
    reason,
    threshold,
    requestedByType: principal.type,
    requestedById: principal.id,
    createdAt: now,
    expiresAt: new Date(Date.parse(now) + limits.recoveryRequestTtlSeconds * 1000).toISOString(),
  })
  const { id, targetType, targetId } = request
  audit('recovery_request.opened', id, { drill, targetType, targetId, threshold })
  const name = target && (await findName(db, org.id, target))
  await emit('recovery_request.opened', { requestId: id, drill, targetId, target: name, reason })
  return new Reply(201, { request })
}

/** The lock of `lockForRequest` lets no other call insert one meanwhile. */
async function findPending({ db, org, principal, body, now }: In<typeof recoveryRequests.open, InOrg>, target: Target) {
  const open = await listPending(db, org, principal, target, now)
  return open.find((one) => isSameKey(one.targetPublicKeyJwk, body.targetPublicKeyJwk))
}

type Target = { type: 'user' | 'service_token'; id: string }

async function targetOf(input: In<typeof recoveryRequests.open, InOrg>): Promise<Target | null> {
  const { db, org, principal, body, now } = input
  const { targetType, targetId, drill, targetPublicKeyJwk } = body
  if ((targetType === undefined) !== (targetId === undefined))
    throw fail('invalid_request', 'body: give both targetType and targetId, or neither')
  if (drill) {
    if (targetId !== undefined) throw fail('invalid_request', 'body.targetId: a drill has no target')
    return null
  }
  if (targetType === undefined && principal.type === 'm2m')
    throw fail('invalid_request', 'body.targetId: is required, because a machine client has no keys')
  const target = targetType && targetId ? { type: targetType, id: targetId } : (principal as Target)
  const known = await findPublicKey(db, org, target.type, target.id, now)
  if (known === undefined)
    throw fail('invalid_request', 'body.targetId: must be a member who has uploaded keys, or a valid service token')
  if (!isSameKey(known, targetPublicKeyJwk))
    throw fail('invalid_request', 'body.targetPublicKeyJwk: not the public key of the target')
  return { type: target.type, id: target.id }
}

/** Compares the coordinates, because one key can be written in many ways. Both texts were checked to be public keys. */
function isSameKey(one: string, other: string): boolean {
  const [a, b] = [JSON.parse(one), JSON.parse(other)]
  return a.x === b.x && a.y === b.y
}

export async function get(input: In<typeof recoveryRequests.get, OnRequest>): Out<typeof recoveryRequests.get> {
  const { db, org, recoveryRequest: request } = input
  return { request, shares: await listShares(db, org, request) }
}

type Contribution = In<typeof recoveryRequests.contribute, OnRequest & { custodian: Custodian }>

export async function contribute(input: Contribution): Out<typeof recoveryRequests.contribute> {
  const { db, org, custodian, body, now, audit } = input
  const { shareIndex, contributedShare } = body
  const request = await lockRequest(db, org, input.recoveryRequest, now)
  requestLifecycle.check(request.status, 'contribute')
  if (shareIndex !== custodian.shareIndex)
    throw fail('invalid_request', `body.shareIndex: your share is number ${custodian.shareIndex}`)
  await checkTarget(input, request)
  const added = await insertShare(db, org, request, { shareIndex, userId: custodian.userId, contributedShare, now })
  if (!added) throw fail('conflict', 'you have already contributed to this request')
  const contributed = request.contributed + 1
  audit('recovery_request.share_contributed', request.id, { shareIndex, contributed, threshold: request.threshold })
  return { request: { ...request, contributed } }
}

const gone = 'the target has left, or has no keys any longer'

/** Custodians have compared the words of one key, so nothing may go to another one. */
async function checkTarget(
  { db, org, now }: { db: Tx; org: Org; now: string },
  request: Pick<RecoveryRequest, 'targetType' | 'targetId' | 'targetPublicKeyJwk'>,
) {
  const { targetType, targetId, targetPublicKeyJwk } = request
  if (targetType === null || targetId === null) return
  const known = await findPublicKey(db, org, targetType, targetId, now)
  if (known === undefined) throw fail('conflict', gone)
  if (!isSameKey(known, targetPublicKeyJwk))
    throw fail('conflict', 'the keys of the target have changed since the request was opened')
}

type Completion = In<typeof recoveryRequests.complete, OnRequest>

/**
 * The only way to grant a key without holding it. The target’s machine has opened the recovery key, which the server
 * cannot verify.
 */
export async function complete(input: Completion): Out<typeof recoveryRequests.complete> {
  const { db, org, body, now, audit, emit } = input
  await lockOrg(db, org) // teams that ask for these keys must not change meanwhile
  // Locks in the same order as a rotation.
  if (!(await lockRecovery(db, org))) throw fail('conflict', 'recovery is not set up')
  const request = await lockRequest(db, org, input.recoveryRequest, now)
  requestLifecycle.check(request.status, 'complete')
  checkPrincipal(body, request)
  if (request.contributed < request.threshold)
    throw fail('conflict', `${request.contributed} of ${request.threshold} shares were contributed`)
  await checkTarget(input, request)
  await checkCovered(input)
  const { targetType, targetId } = request
  await closeRequest(db, org, request, 'completed')
  if (targetType === null || targetId === null) {
    await markDrill(db, org, now)
    audit('recovery.drilled', org.id, { requestId: request.id, contributed: request.contributed })
  } else {
    const given = await putGrants(input, org.id, { principalType: targetType, principalId: targetId }, body.grants)
    if (!given) throw fail('conflict', gone)
    const environmentIds = body.grants.map(({ environmentId }) => environmentId)
    audit('recovery_request.completed', request.id, { targetType, targetId, environmentIds })
    const name = await findName(db, org.id, { type: targetType, id: targetId })
    const facts = { requestId: request.id, targetId, target: name, environments: environmentIds.length }
    await emit('recovery_request.completed', facts)
  }
  return { request: { ...request, status: 'completed' }, granted: body.grants.length }
}

function checkPrincipal(
  { principalType, principalId, grants }: Completion['body'],
  request: OnRequest['recoveryRequest'] | Awaited<ReturnType<typeof lockRequest>>,
) {
  if (request.drill) {
    if (principalId !== undefined || grants.length > 0)
      throw fail('invalid_request', 'body.grants: a drill grants no keys')
    return
  }
  if (principalType !== request.targetType || principalId !== request.targetId)
    throw fail('invalid_request', 'body.principalId: not the target of this request')
  if (grants.length === 0) throw fail('invalid_request', 'body.grants: no key is given')
}

async function checkCovered({ db, org, body }: Completion): Promise<void> {
  const covered = await lockCovered(
    db,
    org,
    body.grants.map(({ environmentId }) => environmentId),
  )
  const seen = new Set<string>()
  for (const [index, { environmentId }] of body.grants.entries()) {
    if (seen.has(environmentId)) throw fail('invalid_request', `body.grants.${index}: ${environmentId} is named twice`)
    if (!covered.has(environmentId))
      throw fail('invalid_request', `body.grants.${index}: the recovery key does not cover this environment`)
    seen.add(environmentId)
  }
}

export async function cancel(
  input: In<typeof recoveryRequests.cancel, OnRequest>,
): Out<typeof recoveryRequests.cancel> {
  const { db, org, now, audit } = input
  const request = await lockRequest(db, org, input.recoveryRequest, now)
  requestLifecycle.check(request.status, 'cancel')
  await closeRequest(db, org, request, 'cancelled')
  audit('recovery_request.cancelled', request.id, { contributed: request.contributed })
  return { request: { ...request, status: 'cancelled' } }
}
