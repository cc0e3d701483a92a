import { Reply } from '../../http/route.ts'
import { findEnvironmentLabel } from '../../model/environments/label.ts'
import { findName } from '../../model/people/names.ts'
import type { Proposal, Propose, ProposeInput, ProtectedEnv } from '../secrets/proposal.ts'
import { noteFrom } from './note.ts'
import { factsOf } from './notices.ts'
import { type ChangeRow, insertChange, type SecretChangeRow } from './store.ts'

/** Queues a write instead of doing it, under the current protection settings of the environment. */
export const propose: Propose = async (request, env, proposal) => {
  const changeRequest = await queue(request, env, proposal)
  await tellOpened(request, env, changeRequest)
  return new Reply(202, { queued: true, changeRequest })
}

/** Queues several changes, which are decided together and announced by one event. */
export async function proposeTogether(
  request: ProposeInput,
  env: ProtectedEnv,
  proposals: readonly [Proposal, ...Proposal[]],
): Promise<Reply<{ queued: true; groupId: string | null; changeRequests: SecretChangeRow[] }>> {
  const [proposal, ...others] = proposals
  const groupId = others.length === 0 ? null : request.newId('changeGroup')
  const group = { groupId, groupSize: proposals.length }
  const first = await queue(request, env, proposal, group)
  const changeRequests = [first]
  for (const other of others) changeRequests.push(await queue(request, env, other, group))
  await tellOpened(request, env, first)
  return new Reply(202, { queued: true, groupId, changeRequests })
}

export async function tellOpened({ db, emit }: ProposeInput, env: ProtectedEnv, change: ChangeRow): Promise<void> {
  const { note, requiredApprovals } = change
  const label = await findEnvironmentLabel(db, env.orgId, env.id)
  const proposedBy = await findName(db, env.orgId, { type: change.proposedByType, id: change.proposedById })
  await emit('change_request.opened', { ...factsOf(change, label), proposedBy, note, requiredApprovals })
}

const alone = { groupId: null, groupSize: 1 }

async function queue(
  { db, principal, headers, now, newId, audit }: ProposeInput,
  env: ProtectedEnv,
  proposal: Proposal,
  group: Pick<ChangeRow, 'groupId' | 'groupSize'> = alone,
): Promise<SecretChangeRow> {
  const { action, secretName, on } = proposal
  const changeRequest: SecretChangeRow = {
    id: newId('changeRequest'),
    environmentId: env.id,
    secretName,
    action,
    ciphertext: (action !== 'delete' && proposal.ciphertext) || null,
    restoreVersion: action === 'restore' ? proposal.restoreVersion : null,
    keepFor: (action === 'delete' && proposal.keepFor) || null,
    deletedSecretId: (action !== 'put' && proposal.deletedSecretId) || null,
    baseVersion: on?.currentVersion ?? 0,
    note: noteFrom(headers),
    ...group,
    proposedByType: principal.type,
    proposedById: principal.id,
    ...env.protection,
    status: 'open',
    createdAt: now,
    closedAt: null,
  }
  await insertChange(db, env, { ...changeRequest, baseSecretId: on?.id ?? null, baseState: null })
  const { id, baseVersion, keepFor, deletedSecretId, groupId } = changeRequest
  audit('change_request.opened', id, {
    environmentId: env.id,
    name: secretName,
    action,
    baseVersion,
    ...(action === 'restore' && { restoreVersion: proposal.restoreVersion }),
    ...(keepFor !== null && { keepFor }),
    ...(deletedSecretId !== null && { deletedSecretId }),
    ...(groupId !== null && { groupId }),
  })
  return changeRequest
}
