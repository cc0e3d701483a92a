import type { changes } from '@skerry/contract/changes/endpoints'
import { type In, type Out, Reply } from '../../http/route.ts'
import { fail } from '../../kernel/errors.ts'
import { findKeyedState } from '../../model/environments/keyed.ts'
import type { Env, InEnv } from '../envs/scope.ts'
import type { InOrg } from '../orgs/scope.ts'
import { noteFrom } from './note.ts'
import { supersedeAll, tellDecided } from './notices.ts'
import { tellOpened } from './propose.ts'
import { checkBody, checkCurrent, lockKeyed, type RekeyBody } from './rekey/checks.ts'
import { replaceKey } from './rekey/replace.ts'
import { findBody, findReview, insertBody, lockOpenRekey } from './rekey-store.ts'
import type { Change } from './scope.ts'
import { type ChangeRow, closeChanges, insertChange } from './store.ts'

type Proposal = In<typeof changes.proposeRekey, InEnv>

/**
 * Queues a re-key that would succeed now. In a protected environment one re-key waits at a time, because its body is large. A
 * stale one can never be applied, so a new one takes its place.
 */
export async function proposeRekey(input: Proposal): Out<typeof changes.proposeRekey> {
  const { db, env, principal, body, headers, now, newId, audit } = input
  checkBody(body, principal)
  const keyed = await lockKeyed(db, env, now)
  const { protection } = keyed
  if (!protection) throw fail('conflict', 'the environment is not protected: re-key it directly')
  checkCurrent(env, body, principal, keyed)
  const baseState = await findKeyedState(db, env, now)
  await closeStale(input, baseState)
  const changeRequest: ChangeRow = {
    id: newId('changeRequest'),
    environmentId: env.id,
    secretName: null,
    action: 'rekey',
    ciphertext: null,
    restoreVersion: null,
    keepFor: null,
    deletedSecretId: null,
    baseVersion: 0,
    note: noteFrom(headers),
    groupId: null,
    groupSize: 1,
    proposedByType: principal.type,
    proposedById: principal.id,
    ...protection,
    status: 'open',
    createdAt: now,
    closedAt: null,
  }
  await insertChange(db, env, { ...changeRequest, baseSecretId: null, baseState })
  await insertBody(db, env.orgId, changeRequest.id, body)
  audit('change_request.opened', changeRequest.id, {
    environmentId: env.id,
    action: 'rekey',
    secrets: body.secrets.length,
    grants: body.grants.length,
    removed: removedOf(body, keyed.holders),
  })
  await tellOpened(input, { ...env, protection }, changeRequest)
  return new Reply(202, { queued: true as const, changeRequest })
}

interface Holder {
  principalType: string
  principalId: string
}

/** The holders who would lose access. */
function removedOf(body: RekeyBody, holders: readonly Holder[]): Holder[] {
  const kept = new Set<string>(body.grants.map(({ principalId }) => principalId))
  return holders
    .filter(({ principalId }) => !kept.has(principalId))
    .map(({ principalType, principalId }) => ({ principalType, principalId }))
}

async function closeStale(input: Proposal, state: string): Promise<void> {
  const { db, env, now, audit } = input
  const open = await lockOpenRekey(db, env)
  if (!open) return
  if (open.baseState === state)
    throw fail('conflict', `a re-key of this environment waits for approval already: ${open.id}`)
  await closeChanges(db, env, [open.id], 'superseded', now)
  audit('change_request.superseded', open.id, { environmentId: env.id, action: 'rekey' })
  await tellDecided(input, open, 'superseded')
}

/** Shows a proposed re-key to a reviewer. Ciphertexts are for those alone who have the present key. */
export async function showRekey(
  input: In<typeof changes.rekey, InOrg & { change: Change }>,
): Out<typeof changes.rekey> {
  const { db, change, principal, now } = input
  if (change.action !== 'rekey') throw fail('not_found', 'this change is not a re-key')
  const [body, review] = [await findBody(db, change), await findReview(db, change, principal, now)]
  if (!body || !review) throw fail('not_found', 'this re-key is decided, and its new key was deleted with the decision')
  const { held, stale } = review
  const own = body.grants.find((one) => one.principalType === principal.type && one.principalId === principal.id)
  const { expectedVersions } = body
  return {
    rekey: {
      stale,
      grants: body.grants.map(({ principalType, principalId }) => ({ principalType, principalId })),
      covered: body.recoveryWrappedDek !== undefined,
      wrappedDek: held && own ? own.wrappedDek : null,
      secrets: held
        ? body.secrets.map((one) => ({ ...one, expectedVersion: expectedVersions[one.name] as number }))
        : null,
      details: held && body.details ? body.details.map(({ name, sealed }) => ({ name, sealed })) : null,
    },
  }
}

type Approving = In<typeof changes.approve, InOrg & { change: Change }>

/**
 * Applies a proposed re-key through the same code as a direct one, if `approvers` is not null. Returns `superseded` if
 * something has changed since the proposal.
 */
export async function applyRekey(
  input: Approving,
  env: Env,
  approvers: string[] | null,
): Promise<'open' | 'applied' | 'superseded'> {
  const { db, change, now, audit } = input
  const keyed = await lockKeyed(db, env, now)
  if ((await findKeyedState(db, env, now)) !== change.baseState) return 'superseded'
  if (!approvers) return 'open'
  const body = await findBody(db, change)
  if (!body) throw new Error('an open re-key has a body')
  const { proposedByType, proposedById } = change
  const { facts } = await replaceKey(input, env, { body, author: { type: proposedByType, id: proposedById }, keyed })
  await supersedeAll(input, env, change.id)
  const people = { proposedByType, proposedById, approvedByIds: approvers }
  audit('change_request.applied', change.id, { environmentId: env.id, action: 'rekey', ...people })
  audit('env.rekeyed', env.id, { ...facts, changeRequestId: change.id, ...people })
  return 'applied'
}
