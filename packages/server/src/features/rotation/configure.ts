import type { rotation as endpoints } from '@skerry/contract/rotation/endpoints'
import { type In, type Out, Reply } from '../../http/route.ts'
import { fail, Refusal } from '../../kernel/errors.ts'
import { lockEnvironment } from '../../model/environments/table.ts'
import { lockGrant, rotatorHolder } from '../../model/grants/table.ts'
import { giveGrant } from '../../model/grants/write.ts'
import { checkQuota } from '../billing/quota.ts'
import { type Env, findEnvOfBody } from '../envs/scope.ts'
import type { InOrg } from '../orgs/scope.ts'
import { namesOf } from './account.ts'
import { checkConfig, checkTarget, checkWriters, verifyAccounts } from './checks.ts'
import { rotationLifecycle, type Status } from './lifecycle.ts'
import { claimAccounts } from './owner.ts'
import { aboutOf, toResponse, unclaimed } from './policies.ts'
import { checkProven, findRotatorEnv, openWith } from './rotator-key.ts'
import { resolveInterruptedRotation, runRotation, underWay } from './run.ts'
import { nextAfter } from './schedule.ts'
import { checkBound, type OnRotation, type Rotation } from './scope.ts'
import { findRotationOf, lockRotation, putRotation } from './store.ts'

type Create = In<typeof endpoints.create, InOrg>

/**
 * Checks everything first: that the caller may read the environment, that the rotator’s key is the environment’s key,
 * and that the account exists. Then it stores the policy and the grant together.
 */
export async function create(input: Create): Out<typeof endpoints.create> {
  const { context, db, org, body, principal, origin, now } = input
  checkBound(principal, body.environmentId)
  const env = await findEnvOfBody(db, org, body.environmentId, principal, now)
  if (env.wrappedDek === null) throw fail('forbidden', 'you hold no key grant on this environment')
  const config = checkConfig(body.config, body.secretName)
  const { environmentId, secretName, targetId = null } = body
  await checkTarget(db, org, config.kind, body.targetId)
  const policy = { orgId: org.id, environmentId, secretName, config, targetId }
  await checkWriters(db, org, policy)
  await checkKey(input, env, namesOf(policy))
  await verifyAccounts(context, policy)
  const existing = await findRotationOf(db, org, environmentId, secretName)
  if (existing) await resolveInterruptedRotation(context, existing, origin)
  const stored = await store(input, env, policy)
  const status = stored.isNew ? 201 : 200
  if (!body.rotateNow) return new Reply(status, { rotation: toResponse(stored.rotation) })
  return new Reply(status, await rotateOnce(input, stored.rotation))
}

/** Checks that the key that the rotator has or is given is the environment’s. Returns the wrapped key that it has. */
async function checkKey({ context, db, org, body }: Create, env: Env, names: string[]): Promise<string | null> {
  const held = (await findRotatorEnv(context, db, org.id, env.id))?.wrappedDek ?? null
  const wrappedDek = held ?? body.wrappedDek
  if (wrappedDek === undefined)
    throw fail('invalid_request', 'body.wrappedDek: is required, because the rotator has no key of this environment')
  const opened = await openWith(context, env, wrappedDek, names).catch((error: unknown) => {
    if (held !== null || !(error instanceof Refusal)) throw error
    throw fail('invalid_request', `body.wrappedDek: ${error.message}`)
  })
  checkProven(opened)
  return held
}

type Policy = Pick<Rotation, 'environmentId' | 'secretName' | 'config' | 'targetId'>

const storeTries = 5

/**
 * Another first policy of the environment may have given the rotator its key since the check. Then this code checks
 * that key too, and does not store the key in the request.
 */
async function store(input: Create, env: Env, policy: Policy) {
  for (let tries = 0; tries < storeTries; tries++) {
    const stored = await storeBeside(input, policy, await checkKey(input, env, namesOf(policy)))
    if (stored) return stored
  }
  throw fail('conflict', 'the rotator’s grant keeps changing: try again')
}

/** Returns undefined and stores nothing if the rotator’s key has changed since the check. */
const storeBeside = (input: Create, policy: Policy, held: string | null) =>
  input.transaction(async (work) => {
    const { db, audit } = work
    const { org, body, now, newId } = input
    const { environmentId, secretName, config } = policy
    const env = { orgId: org.id, id: environmentId }
    if (!(await lockEnvironment(db, env, 'no key update'))) throw fail('not_found', 'body.environmentId: no such env')
    const grant = await lockGrant(db, env, rotatorHolder(org.id), now)
    if ((grant?.wrappedDek ?? null) !== held) return undefined
    const existing = await findRotationOf(db, org, environmentId, secretName)
    if (existing) await unclaimed(await lockRotation(db, existing), now)
    else await checkQuota(input.context, db, org, 'rotation.policies')
    const { intervalSeconds } = body
    const status = existing ? (rotationLifecycle.next(existing.status, 'configure') as Status) : 'active'
    const rotation = await putRotation(db, org, {
      ...policy,
      id: newId('rotation'),
      kind: config.kind,
      intervalSeconds,
      status,
      nextRunAt: nextAfter(now, intervalSeconds),
      now,
    })
    await claimAccounts(db, rotation)
    audit(existing ? 'rotation.updated' : 'rotation.created', rotation.id, { ...aboutOf(rotation), intervalSeconds })
    if (held === null) await giveToRotator(input, { db, audit }, environmentId)
    await input.sign(work)
    return { rotation, isNew: existing === undefined }
  })

async function giveToRotator(
  { org, body, ...giving }: Create,
  work: Pick<Parameters<typeof giveGrant>[0], 'db' | 'audit'>,
  environmentId: string,
): Promise<void> {
  const key = { ...rotatorHolder(org.id), wrappedDek: body.wrappedDek as string }
  const grant = await giveGrant({ ...giving, ...work }, { orgId: org.id, id: environmentId }, key)
  if (!grant) throw fail('conflict', 'the rotator’s grant has just changed: try again')
}

/** A failed first run is recorded with the policy like any failed run. The policy stays configured. */
async function rotateOnce({ context, db, org, origin }: Create, rotation: Rotation) {
  try {
    const done = await runRotation(context, rotation, { origin, onlyDue: false })
    if (done) return { rotation: toResponse(done.rotation), version: done.version }
  } catch (error) {
    if (!(error instanceof Refusal)) throw error
  }
  const after = await findRotationOf(db, org, rotation.environmentId, rotation.secretName)
  return { rotation: toResponse(after ?? rotation) }
}

/** Also rotates a paused policy, because an admin asked for it. The policy stays paused. */
export async function rotate(input: In<typeof endpoints.rotate, OnRotation>): Out<typeof endpoints.rotate> {
  const { context, rotation, origin } = input
  const done = await runRotation(context, rotation, { origin, onlyDue: false })
  if (!done) throw fail('conflict', underWay)
  return { ...done, rotation: toResponse(done.rotation) }
}
