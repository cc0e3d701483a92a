import type { rotation as endpoints } from '@skerry/contract/rotation/endpoints'
import { byCreation, pageFrom, pageOf } from '../../http/page.ts'
import type { In, Out } from '../../http/route.ts'
import { fail } from '../../kernel/errors.ts'
import { boundTo } from '../../kernel/principal.ts'
import { rotatorOf } from '../../keys/keypairs.ts'
import { lockEnvironment } from '../../model/environments/table.ts'
import { revokeRotatorGrant } from '../../model/grants/write.ts'
import type { InOrg } from '../orgs/scope.ts'
import { configOf, isOfAccount } from './account.ts'
import { checkConfig, checkWriters, verifyAccounts } from './checks.ts'
import { rotationLifecycle, type Status, type Trigger } from './lifecycle.ts'
import { claimAccounts } from './owner.ts'
import { resolveInterruptedRotation, underWay } from './run.ts'
import { dueAt } from './schedule.ts'
import type { OnRotation, Rotation } from './scope.ts'
import { countRotations, deleteRotation, listGranted, listRotations, lockRotation, updateRotation } from './store.ts'

export async function rotatorKey(input: In<typeof endpoints.rotatorKey, InOrg>): Out<typeof endpoints.rotatorKey> {
  const { context, db, org, principal } = input
  const publicKeyJwk = await context.keypairs.publicKey(db, rotatorOf(org.id))
  return { publicKeyJwk, grantedEnvironmentIds: await listGranted(db, org, boundTo(principal)) }
}

export async function list({
  db,
  org,
  principal,
  query,
}: In<typeof endpoints.list, InOrg>): Out<typeof endpoints.list> {
  const cursor = pageFrom(query, 'rotation')
  const page = pageOf(await listRotations(db, org, boundTo(principal), cursor), cursor, byCreation)
  return { rotations: page.rows.map(toResponse), nextCursor: page.nextCursor }
}

export async function get({ rotation }: In<typeof endpoints.get, OnRotation>): Out<typeof endpoints.get> {
  return { rotation: toResponse(rotation) }
}

/** A new config is stored only after its accounts were found on the target and an interrupted rotation was resolved. */
export async function update(input: In<typeof endpoints.update, OnRotation>): Out<typeof endpoints.update> {
  const { context, db, org, origin, rotation, body, now, transaction } = input
  const config = body.config === undefined ? rotation.config : checkConfig(body.config, rotation.secretName)
  if (config.kind !== rotation.kind)
    throw fail('invalid_request', `body.config.kind: the policy is one of ${rotation.kind}; configure it anew`)
  if (body.config !== undefined) {
    const changed = { ...rotation, config }
    await checkWriters(db, org, changed)
    await verifyAccounts(context, changed)
    await resolveInterruptedRotation(context, rotation, origin)
  }
  const updated = await transaction(async ({ db, audit }) => {
    const stored = await unclaimed(await lockRotation(db, rotation), body.config === undefined ? null : now)
    const trigger: Trigger | null = body.status === undefined ? null : body.status === 'paused' ? 'pause' : 'resume'
    const status = trigger === null ? stored.status : (rotationLifecycle.next(stored.status, trigger) as Status)
    const { intervalSeconds = stored.intervalSeconds } = body
    const isKept = body.intervalSeconds === undefined && status === stored.status
    const due = isKept ? stored.nextRunAt : dueAt(stored.lastRunAt, now, intervalSeconds)
    const nextRunAt = status === 'paused' ? null : due
    const change = { config, intervalSeconds, status, nextRunAt, clears: trigger === 'resume', now }
    audit('rotation.updated', rotation.id, {
      ...aboutOf(stored),
      intervalSeconds,
      status,
      config: body.config !== undefined,
    })
    const changed = await updateRotation(db, rotation, change)
    // The policy may have been paused because another policy rotates the same account. Claim the account again.
    if (changed && (body.config !== undefined || trigger === 'resume')) await claimAccounts(db, changed)
    return changed
  })
  return { rotation: toResponse(updated as Rotation) }
}

/** Resolves an interrupted rotation first, because no later run would. */
export async function remove(input: In<typeof endpoints.delete, OnRotation>): Out<typeof endpoints.delete> {
  const { context, rotation, query, origin, now, transaction, sign } = input
  const { orgId, environmentId } = rotation
  const forced = query.force === 'true'
  if (!forced && isOfAccount(configOf(rotation))) await resolveInterruptedRotation(context, rotation, origin)
  const rotatorRevoked = await transaction(async (work) => {
    const { db, audit } = work
    await lockEnvironment(db, { orgId, id: environmentId }, 'no key update')
    const stored = await unclaimed(await lockRotation(db, rotation), forced ? null : now)
    await deleteRotation(db, rotation)
    audit('rotation.deleted', rotation.id, aboutOf(stored))
    const isLast = (await countRotations(db, orgId, environmentId)) === 0
    const isRevoked = isLast && (await revokeRotatorGrant(work, { orgId, id: environmentId }, 'rotation.deleted'))
    await sign(work)
    return isRevoked
  })
  return { ok: true, rotatorRevoked }
}

/** Refuses a policy that is gone, or that a run has claimed at the time `now`. With null, a claim does not matter. */
export async function unclaimed<R extends { claimedUntil: string | null }>(stored: R | undefined, now: string | null) {
  if (!stored) throw fail('not_found', 'no such rotation')
  if (now !== null && stored.claimedUntil !== null && stored.claimedUntil > now) throw fail('conflict', underWay)
  return stored
}

export const aboutOf = ({ environmentId, secretName, kind, targetId }: Rotation) => ({
  environmentId,
  secretName,
  kind,
  ...(targetId === null ? {} : { targetId }),
})

export function toResponse({ orgId, ...rotation }: Rotation) {
  return rotation
}
