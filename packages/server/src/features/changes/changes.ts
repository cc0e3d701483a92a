import type { changes } from '@skerry/contract/changes'
import { pageFrom, pageOf } from '../../http/page.ts'
import type { In, Out } from '../../http/route.ts'
import { fail } from '../../kernel/errors.ts'
import type { UserPrincipal } from '../../kernel/principal.ts'
import { findEnv } from '../envs/scope.ts'
import type { InOrg } from '../orgs/scope.ts'
import { applyChange, lockBase } from '../secrets/apply.ts'
import { checkRoom } from '../secrets/room.ts'
import { changeLifecycle, type Trigger } from './lifecycle.ts'
import { tellDecided } from './notices.ts'
import { type Change, isProposer } from './scope.ts'
import {
  type ChangeRow,
  closeChange,
  listApprovers,
  listChanges,
  listReviews,
  lockChange,
  putReview,
  type Status,
} from './store.ts'

type OnChange = InOrg & { change: Change }
type Reviewing = OnChange & { principal: UserPrincipal }

export async function list(input: In<typeof changes.list, InOrg>): Out<typeof changes.list> {
  const { db, org, principal, query, now } = input
  const cursor = pageFrom(query, 'changeRequest')
  const rows = await listChanges(db, org, principal, query, now, cursor)
  const page = pageOf(rows, cursor, (row) => [row.createdAt, row.id])
  return { changeRequests: page.rows, nextCursor: page.nextCursor }
}

export async function get({ db, change }: In<typeof changes.get, OnChange>): Out<typeof changes.get> {
  return { changeRequest: toResponse(change), reviews: await listReviews(db, change) }
}

/**
 * With the last approval that it needs, the change happens in the same transaction. Where the secret has moved on, it
 * never can, so the first approval closes it.
 */
export async function approve(input: In<typeof changes.approve, Reviewing>): Out<typeof changes.approve> {
  const { db, change, principal, audit } = input
  const { ciphertext } = await lockFor('approve', input)
  if (!change.allowSelfApproval && isProposer(principal, change))
    throw fail('forbidden', 'someone else has to approve what you proposed')
  await vote(input, 'approve')
  const approvers = await listApprovers(db, change)
  const [approvals, required] = [approvers.length, change.requiredApprovals]
  audit('change_request.approved', change.id, { ...factsOf(change), approvals, required })
  const changeRequest = await carryOut(input, ciphertext, approvals >= required ? approvers : null)
  return { changeRequest, status: changeRequest.status, approvals, required }
}

/** `approvers` are null as long as there are too few. */
async function carryOut(
  input: In<typeof changes.approve, Reviewing>,
  ciphertext: string | null,
  approvers: string[] | null,
): Promise<ChangeRow> {
  const { db, org, change, principal, now, newId, audit } = input
  const env = await findEnv(db, org, change.environmentId, principal, now)
  if (!env) throw fail('not_found', 'no such change request')
  const base = await lockBase(db, env, change)
  if (base && !approvers) return toResponse(change)
  if (base && ciphertext !== null)
    await checkRoom(input.context, db, env, { name: change.secretName, bytes: ciphertext.length })
  const applied = base && (await applyChange(db, env, { ...change, ciphertext }, base, { now, newId }))
  if (!applied) {
    audit('change_request.superseded', change.id, factsOf(change))
    return decide(input, 'superseded')
  }
  const { action, secretId, metadata } = applied
  const { proposedByType, proposedById } = change
  const people = { proposedByType, proposedById, approvedByIds: approvers }
  audit('change_request.applied', change.id, { ...factsOf(change), ...people })
  audit(action, secretId, { ...metadata, changeRequestId: change.id, ...people })
  return decide(input, 'applied')
}

export async function reject(input: In<typeof changes.reject, Reviewing>): Out<typeof changes.reject> {
  await lockFor('reject', input)
  await vote(input, 'reject')
  input.audit('change_request.rejected', input.change.id, factsOf(input.change))
  return { changeRequest: await decide(input, 'rejected') }
}

export async function withdraw(input: In<typeof changes.withdraw, OnChange>): Out<typeof changes.withdraw> {
  await lockFor('withdraw', input)
  input.audit('change_request.withdrawn', input.change.id, factsOf(input.change))
  return { changeRequest: await close(input, 'withdrawn') }
}

type Deciding = Pick<In<typeof changes.withdraw, OnChange>, 'db' | 'change' | 'now'>
type Voting = Omit<In<typeof changes.reject, Reviewing>, 'audit'>

/** The change as it is when everyone who came before has decided. */
async function lockFor(trigger: Trigger, { db, change }: Deciding) {
  const stored = await lockChange(db, change)
  if (!stored) throw fail('not_found', 'no such change request')
  changeLifecycle.check(stored.status, trigger)
  return stored
}

function vote({ db, change, principal, body, now, newId }: Voting, decision: 'approve' | 'reject') {
  const comment = body.comment?.trim() || null
  return putReview(db, change, { id: newId('review'), reviewerId: principal.id, decision, comment, createdAt: now })
}

/** Closes it by someone else's doing, and tells its proposer. */
async function decide(input: Omit<In<typeof changes.reject, Reviewing>, 'audit'>, status: Status): Promise<ChangeRow> {
  await tellDecided(input, input.change, status)
  return close(input, status)
}

async function close({ db, change, now }: Deciding, status: Status): Promise<ChangeRow> {
  await closeChange(db, change, status, now)
  return { ...toResponse(change), status, closedAt: now }
}

/** What audit entries say of a change. Its note is for reviewers, and may be long. */
const factsOf = ({ environmentId, secretName, action }: Change) => ({ environmentId, name: secretName, action })

function toResponse({ orgId, baseSecretId, ...row }: Change): ChangeRow {
  return row
}
