import type { changes } from '@skerry/contract/changes/endpoints'
import { pageFrom, pageOf } from '../../http/page.ts'
import type { In, Out } from '../../http/route.ts'
import { fail } from '../../kernel/errors.ts'
import type { UserPrincipal } from '../../kernel/principal.ts'
import { lockEnvironment } from '../../model/environments/table.ts'
import { type Env, findEnv, type InEnv } from '../envs/scope.ts'
import type { InOrg } from '../orgs/scope.ts'
import { applyChanges, lockBases } from '../secrets/apply-changes.ts'
import { checkProposals } from '../secrets/check-proposals.ts'
import type { QuotaContext } from '../secrets/quota-cache.ts'
import { changeLifecycle, type Trigger } from './lifecycle.ts'
import { tellDecided } from './notices.ts'
import { proposeTogether } from './propose.ts'
import { applyRekey } from './rekeys.ts'
import { type Change, isProposer } from './scope.ts'
import {
  type ChangeRow,
  closeChanges,
  findProposerEnd,
  listApprovers,
  listChanges,
  listReviews,
  lockDecided,
  putReview,
  type SecretChangeRow,
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
  const changeRequest = { ...toResponse(change), ...(await findProposerEnd(db, change)) }
  return { changeRequest, reviews: await listReviews(db, change) }
}

/** If one change is refused, all of them are refused. */
export async function propose(input: In<typeof changes.propose, InEnv, QuotaContext>): Out<typeof changes.propose> {
  const { env } = input
  const { protection } = env
  if (!protection) throw fail('conflict', 'the environment is not protected: write its secrets directly')
  return proposeTogether(input, { ...env, protection }, await checkProposals(input))
}

/**
 * The last approval that a change needs applies it in the same transaction, with all changes that were proposed
 * together. If a secret has changed in between, they can never be applied, so the first approval closes them.
 */
export async function approve(input: In<typeof changes.approve, Reviewing, QuotaContext>): Out<typeof changes.approve> {
  const { db, org, change, principal, body, audit } = input
  checkKind(change, body)
  // Locks the environment before its changes, as a re-key does, so that two decisions cannot deadlock.
  await lockEnvironment(db, { orgId: org.id, id: change.environmentId }, isRekey(change) ? 'update' : 'no key update')
  const together = await lockFor('approve', input)
  if (!change.allowSelfApproval && isProposer(principal, change))
    throw fail('forbidden', 'someone else has to approve what you proposed')
  await vote(input, together, 'approve')
  const approvers = await listApprovers(db, change)
  const [approvals, required] = [approvers.length, change.requiredApprovals]
  for (const one of together) audit('change_request.approved', one.id, { ...factsOf(one), approvals, required })
  const changeRequest = await carryOut(input, together, approvals >= required ? approvers : null)
  return { changeRequest, status: changeRequest.status, approvals, required }
}

/** `approvers` is null while there are too few. */
async function carryOut(
  input: In<typeof changes.approve, Reviewing, QuotaContext>,
  together: Change[],
  approvers: string[] | null,
): Promise<ChangeRow> {
  const { db, org, change, principal, now, audit } = input
  const env = await findEnv(db, org, change.environmentId, principal, now)
  if (!env) throw fail('not_found', 'no such change request')
  const status = isRekey(change)
    ? await applyRekey(input, env, approvers)
    : await applySecrets(input, env, together.filter(isOfSecret), approvers)
  if (status === 'open') return toResponse(change)
  if (status === 'superseded') for (const one of together) audit('change_request.superseded', one.id, factsOf(one))
  return decide(input, together, status)
}

async function applySecrets(
  input: In<typeof changes.approve, Reviewing, QuotaContext>,
  env: Env,
  together: SecretChange[],
  approvers: string[] | null,
): Promise<'open' | 'applied' | 'superseded'> {
  const { db, change, now, audit } = input
  const bases = await lockBases(db, env, together, now)
  if (bases && !approvers) return 'open'
  const applied = bases && (await applyChanges(input, env, bases))
  if (!applied) return 'superseded'
  const { proposedByType, proposedById } = change
  const people = { proposedByType, proposedById, approvedByIds: approvers }
  for (const { change: one, action, secretId, metadata } of applied) {
    audit('change_request.applied', one.id, { ...factsOf(one), ...people })
    audit(action, secretId, { ...metadata, changeRequestId: one.id, ...people })
  }
  return 'applied'
}

const isRekey = ({ action }: Change): boolean => action === 'rekey'

type SecretChange = Change & Pick<SecretChangeRow, 'action' | 'secretName'>
const isOfSecret = (change: Change): change is SecretChange => !isRekey(change)

/** A client that does not know re-keys would approve one without comparing its values. It does not send `rekey`. */
function checkKind(change: Change, { rekey }: { rekey?: true }): void {
  if (isRekey(change) && !rekey)
    throw fail(
      'conflict',
      'this change gives the environment a new key: approve it with a newer client, which compares the values',
    )
  if (!isRekey(change) && rekey) throw fail('invalid_request', 'body.rekey: this change is not a re-key')
}

export async function reject(input: In<typeof changes.reject, Reviewing>): Out<typeof changes.reject> {
  const together = await lockFor('reject', input)
  await vote(input, together, 'reject')
  for (const one of together) input.audit('change_request.rejected', one.id, factsOf(one))
  return { changeRequest: await decide(input, together, 'rejected') }
}

export async function withdraw(input: In<typeof changes.withdraw, OnChange>): Out<typeof changes.withdraw> {
  const together = await lockFor('withdraw', input)
  for (const one of together) input.audit('change_request.withdrawn', one.id, factsOf(one))
  return { changeRequest: await close(input, together, 'withdrawn') }
}

type Deciding = Pick<In<typeof changes.withdraw, OnChange>, 'db' | 'change' | 'now'>
type Voting = Omit<In<typeof changes.reject, Reviewing>, 'audit'>

/** Locks the change and those proposed with it. Waits for earlier decisions. */
async function lockFor(trigger: Trigger, { db, change }: Deciding): Promise<Change[]> {
  const together = await lockDecided(db, change)
  if (together.length === 0) throw fail('not_found', 'no such change request')
  for (const { status } of together) changeLifecycle.check(status, trigger)
  return together
}

async function vote({ db, principal, body, now, newId }: Voting, together: Change[], decision: 'approve' | 'reject') {
  const comment = body.comment?.trim() || null
  for (const one of together)
    await putReview(db, one, { id: newId('review'), reviewerId: principal.id, decision, comment, createdAt: now })
}

/** Closes changes by someone else's decision, and notifies their proposer. */
async function decide(
  input: Omit<In<typeof changes.reject, Reviewing>, 'audit'>,
  together: Change[],
  status: Status,
): Promise<ChangeRow> {
  await tellDecided(input, input.change, status)
  return close(input, together, status)
}

async function close({ db, change, now }: Deciding, together: Change[], status: Status): Promise<ChangeRow> {
  const ids = together.map(({ id }) => id)
  await closeChanges(db, change, ids, status, now)
  return { ...toResponse(change), status, closedAt: now }
}

/** The facts of a change in audit entries. Its note is for reviewers, and may be long. */
const factsOf = ({ environmentId, secretName, action }: Change) => ({
  environmentId,
  ...(secretName !== null && { name: secretName }),
  action,
})

function toResponse({ orgId, baseSecretId, baseState, ...row }: Change): ChangeRow {
  return row
}
