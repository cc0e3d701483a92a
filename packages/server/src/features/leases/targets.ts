import { leaseConfigProblem } from '@skerry/contract/leases/config'
import type { leases } from '@skerry/contract/leases/endpoints'
import { type LeaseConfig, type LeaseTag, leaseProviders } from '@skerry/contract/leases/providers'
import type { RemoteSession } from '@skerry/providers/children/remote'
import { byCreation, pageFrom, pageOf } from '../../http/page.ts'
import type { In, Out } from '../../http/route.ts'
import { checkShape } from '../../http/validate.ts'
import { fail, Refusal } from '../../kernel/errors.ts'
import { brokerOf } from '../../keys/keypairs.ts'
import type { InOrg } from '../orgs/scope.ts'
import { type TargetStatus, type TargetTrigger, targetLifecycle } from './lifecycle.ts'
import { askForCheck, checkProvisioner, provisionerOf, waitForCheck } from './provisioned.ts'
import { deleteCheck } from './provisioner-store.ts'
import type { LeaseTarget, OnTarget } from './scope.ts'
import { onTarget } from './session.ts'
import {
  countLive,
  deleteTarget,
  forgetLive,
  insertTarget,
  listPoliciesOn,
  listTargets,
  lockForDeletion,
  recordReach,
  type TargetPolicy,
  updateTarget,
} from './target-store.ts'
import { ring } from './waiting.ts'

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

/** A target that cannot be signed in to is not stored: a lease would only fail later, for someone else. */
export async function create(input: In<typeof leases.createTarget, InOrg>): Out<typeof leases.createTarget> {
  const { context, org, body, now, newId, transaction } = input
  const config = checkConfig(body.config)
  const { wrappedAdminSecret } = body
  const tokenId = provisionerOf({ config })
  const facts =
    tokenId === null
      ? {
          status: 'ready' as const,
          ...(await onTarget(context, { orgId: org.id, config, wrappedAdminSecret }, verified)),
        }
      : untested
  const id = newId('leaseTarget')
  const name = body.name ?? `${config.provider}-${id.slice(-6)}`
  const target = await transaction(async ({ db, audit }) => {
    const { provider } = config
    const inserted = await insertTarget(db, org, { id, name, provider, config, wrappedAdminSecret, ...facts, now })
    if (!inserted) throw fail('conflict', 'body.name: another target has it')
    audit('lease_target.created', id, { name, provider })
    if (tokenId !== null) {
      await checkProvisioner(db, org.id, tokenId, now)
      await askForCheck(db, inserted, now)
    }
    return inserted
  })
  if (tokenId === null) return { target: toResponse(target) }
  ring(tokenId)
  return { target: toResponse(await waitForCheck(input, target)) }
}

const verified = (session: RemoteSession) => session.verify()

/** Until its provisioner has signed in. This server cannot open the credential. */
const untested = { status: 'untested', server: null, notes: [] as string[] } as const

const statusAfter = ({ status }: LeaseTarget, trigger: TargetTrigger) =>
  targetLifecycle.next(status, trigger) as TargetStatus

function checkConfig(config: { provider: LeaseTag }): LeaseConfig<LeaseTag> {
  checkShape(leaseProviders[config.provider].config, config, 'body.config')
  const sound = config as LeaseConfig<LeaseTag>
  const problem = leaseConfigProblem(sound)
  if (problem !== null) throw fail('invalid_request', `body.config.${problem}`)
  return sound
}

/** A new credential counts once it has signed in; until then the old one stays. That of a provisioner counts at once. */
export async function update(input: In<typeof leases.updateTarget, OnTarget>): Out<typeof leases.updateTarget> {
  const { context, target, body, now, transaction } = input
  const { name = target.name, wrappedAdminSecret = target.wrappedAdminSecret } = body
  const tokenId = body.wrappedAdminSecret === undefined ? null : provisionerOf(target)
  const facts =
    body.wrappedAdminSecret === undefined
      ? { status: null, server: target.server, notes: target.notes }
      : tokenId === null
        ? {
            status: statusAfter(target, 'reach'),
            ...(await onTarget(context, { ...target, wrappedAdminSecret }, verified)),
          }
        : { ...untested, status: statusAfter(target, 'replace') }
  const updated = await transaction(async ({ db, audit }) => {
    const changed = await updateTarget(db, target, { name, wrappedAdminSecret, ...facts, now })
    if (!changed) throw fail('conflict', 'body.name: another target has it, or this one was deleted')
    audit('lease_target.updated', target.id, { name, credential: body.wrappedAdminSecret !== undefined })
    if (tokenId !== null) {
      await checkProvisioner(db, target.orgId, tokenId, now)
      await deleteCheck(db, target)
      await askForCheck(db, target, now)
    }
    return changed
  })
  if (tokenId === null) return { target: toResponse(updated) }
  ring(tokenId)
  return { target: toResponse(await waitForCheck(input, updated)) }
}

/** What the target says is recorded either way; a failure is the answer, too. */
export async function verify(input: In<typeof leases.verifyTarget, OnTarget>): Out<typeof leases.verifyTarget> {
  const { context, target, now, transaction } = input
  const tokenId = provisionerOf(target)
  if (tokenId !== null) return verifyByProvisioner(input, tokenId)
  const found = await onTarget(context, target, verified).catch((error: unknown) => {
    if (error instanceof Refusal) return error
    throw error
  })
  const reached = await transaction(async ({ db, audit }) => {
    const reach = found instanceof Refusal ? { lastError: found.message } : { lastError: null, ...found }
    audit('lease_target.verified', target.id, { ok: reach.lastError === null })
    return recordReach(db, target, { ...reach, now })
  })
  if (!reached) throw fail('not_found', 'no such target')
  return { target: toResponse(reached) }
}

async function verifyByProvisioner(input: In<typeof leases.verifyTarget, OnTarget>, tokenId: string) {
  const { target, now, transaction } = input
  await transaction(async ({ db, audit }) => {
    await checkProvisioner(db, target.orgId, tokenId, now)
    await askForCheck(db, target, now)
    audit('lease_target.verification_requested', target.id)
  })
  ring(tokenId)
  return { target: toResponse(await waitForCheck(input, target)) }
}

/** The lock comes before the count: a lease that is minted meanwhile is counted, or finds no target. */
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
