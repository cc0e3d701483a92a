import { leaseConfigProblem } from '@skerry/contract/leases/config'
import type { leases } from '@skerry/contract/leases/endpoints'
import { type LeaseConfig, type LeaseTag, leaseProviders } from '@skerry/contract/leases/providers'
import { vendorSlug } from '@skerry/contract/vendors'
import type { Context } from '../../http/context.ts'
import { byCreation, pageFrom, pageOf } from '../../http/page.ts'
import type { In, Out } from '../../http/route.ts'
import { checkShape } from '../../http/validate.ts'
import { fail } from '../../kernel/errors.ts'
import { brokerOf } from '../../keys/keypairs.ts'
import type { InOrg } from '../orgs/scope.ts'
import type { Executor } from './executor.ts'
import { executorOf } from './executors.ts'
import { type TargetStatus, targetLifecycle } from './lifecycle.ts'
import type { LeaseTarget, OnTarget } from './scope.ts'
import type { SignInTarget } from './session.ts'
import {
  countLive,
  deleteTarget,
  forgetLive,
  insertTarget,
  listPoliciesOn,
  listTargets,
  lockForDeletion,
  type TargetPolicy,
  updateTarget,
} from './target-store.ts'

export async function brokerKey({
  context,
  db,
  org,
}: In<typeof leases.brokerKey, InOrg>): Out<typeof leases.brokerKey> {
  return { publicKeyJwk: await context.keypairs.publicKey(db, brokerOf(org.id)) }
}

export async function list({ db, org, query }: In<typeof leases.targets, InOrg>): Out<typeof leases.targets> {
  const cursor = pageFrom(query, 'leaseTarget')
  const page = pageOf(await listTargets(db, org, cursor), cursor, byCreation)
  return { targets: page.rows.map(toResponse), nextCursor: page.nextCursor }
}

/** A target that refuses its credential is not stored, because a lease would only fail later, for someone else. */
export async function create(input: In<typeof leases.createTarget, InOrg>): Out<typeof leases.createTarget> {
  const { context, org, body, now, newId, transaction } = input
  const config = checkConfig(body.config)
  const { wrappedAdminSecret } = body
  const executor = executorOf({ config })
  const facts = await tryCredential(context, executor, { orgId: org.id, config, wrappedAdminSecret }, 'untested')
  const id = newId('leaseTarget')
  const name = body.name ?? `${vendorSlug(config.provider)}-${id.slice(-6)}`
  const target = await transaction(async ({ db, audit }) => {
    const { provider } = config
    const inserted = await insertTarget(db, org, { id, name, provider, config, wrappedAdminSecret, ...facts, now })
    if (!inserted) throw fail('conflict', 'body.name: another target uses it')
    audit('lease_target.created', id, { name, provider })
    await executor.requestCheck(db, inserted, now)
    return inserted
  })
  return { target: toResponse(await executor.waitForCheck(input, target)) }
}

async function tryCredential(context: Context, executor: Executor, target: SignInTarget, statusBefore: TargetStatus) {
  const { trigger, ...facts } = await executor.tryCredential(context, target)
  return { status: targetLifecycle.next(statusBefore, trigger) as 'ready' | 'untested', ...facts }
}

function checkConfig(config: { provider: LeaseTag }): LeaseConfig<LeaseTag> {
  checkShape(leaseProviders[config.provider].config, config, 'body.config')
  const sound = config as LeaseConfig<LeaseTag>
  const problem = leaseConfigProblem(sound)
  if (problem !== null) throw fail('invalid_request', `body.config.${problem}`)
  return sound
}

/** A new credential must sign in before it replaces the old one. A provisioner's credential replaces it at once. */
export async function update(input: In<typeof leases.updateTarget, OnTarget>): Out<typeof leases.updateTarget> {
  const { context, target, body, now, transaction } = input
  const { name = target.name, wrappedAdminSecret = target.wrappedAdminSecret } = body
  const isNew = body.wrappedAdminSecret !== undefined
  const executor = executorOf(target)
  const facts = isNew
    ? await tryCredential(context, executor, { ...target, wrappedAdminSecret }, target.status)
    : { status: null, server: target.server, notes: target.notes }
  const updated = await transaction(async ({ db, audit }) => {
    const changed = await updateTarget(db, target, { name, wrappedAdminSecret, ...facts, now })
    if (!changed) throw fail('conflict', 'body.name: another target uses it, or this one was deleted')
    audit('lease_target.updated', target.id, { name, credential: isNew })
    if (isNew) await executor.requestCheck(db, target, now)
    return changed
  })
  return { target: toResponse(isNew ? await executor.waitForCheck(input, updated) : updated) }
}

export async function verify(input: In<typeof leases.verifyTarget, OnTarget>): Out<typeof leases.verifyTarget> {
  return { target: toResponse(await executorOf(input.target).verify(input)) }
}

/** Locks before it counts, so that a lease that is minted at the same time is counted or finds no target. */
export async function remove(input: In<typeof leases.deleteTarget, OnTarget>): Out<typeof leases.deleteTarget> {
  const { db, target, query, now, audit } = input
  if (!(await lockForDeletion(db, target))) throw fail('not_found', 'no such target')
  checkUnused(await listPoliciesOn(db, target))
  const live = await countLive(db, target)
  const forced = query.force === 'true'
  if (live > 0 && !forced)
    throw fail(
      'conflict',
      `${live} leases of this target are live: revoke them first, or remove the target by force, which leaves their accounts on it`,
    )
  if (live > 0) await forgetLive(db, target, now)
  await deleteTarget(db, target)
  audit('lease_target.deleted', target.id, { name: target.name, forgottenLeases: live })
  return { ok: true }
}

const namedPolicies = 10

/** Refuses even with `force`. Without its target a policy fails at every run, and an interrupted rotation cannot be finished. */
function checkUnused(policies: TargetPolicy[]): void {
  if (policies.length === 0) return
  const names = policies
    .slice(0, namedPolicies)
    .map(({ secretName, environment }) => `${secretName} in ${environment ?? 'an environment that was deleted'}`)
  const more = policies.length > namedPolicies ? ` and ${policies.length - namedPolicies} more` : ''
  throw fail('conflict', `rotation policies use this target: ${names.join(', ')}${more}. Delete these policies first`)
}

function toResponse({ orgId, wrappedAdminSecret, childFailures, ...target }: LeaseTarget) {
  return target
}
