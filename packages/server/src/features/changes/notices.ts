import type { AuditAction } from '@skerry/contract/actions'
import type { Tx } from '../../db/database.ts'
import type { Emit } from '../../events/events.ts'
import type { Metadata } from '../../kernel/audit.ts'
import type { Principal } from '../../kernel/principal.ts'
import { findEnvironmentNames } from '../../model/environments/label.ts'
import { findName } from '../../model/people/names.ts'
import type { Env } from '../envs/scope.ts'
import { listVotes, type Proposed, type Status, supersedeOpen } from './store.ts'

interface Work {
  db: Tx
  principal: Principal
  emit: Emit
}

/** Finds the facts of a change request in an event. A group is one event, which has the number of the other changes. */
export async function findFacts(db: Tx, orgId: string, change: Omit<Proposed, 'orgId' | 'action' | 'groupId'>) {
  const { proposedByType, proposedById, environmentId } = change
  const { label, organization } = await findEnvironmentNames(db, orgId, environmentId)
  return {
    changeRequestId: change.id,
    environmentId,
    environment: label,
    organization,
    secretName: change.secretName,
    others: change.groupSize - 1,
    proposedByType,
    proposedById,
    proposedBy: await findName(db, orgId, { type: proposedByType, id: proposedById }),
  }
}

/** Nobody decides that a change is superseded, so its event has no names and no comment. */
export async function tellDecided({ db, principal, emit }: Work, change: Proposed, status: Status): Promise<void> {
  const vote = ({ applied: 'approve', rejected: 'reject' } as const)[status as 'applied' | 'rejected']
  const votes = vote === undefined ? [] : await listVotes(db, change, vote)
  await emit('change_request.decided', {
    ...(await findFacts(db, change.orgId, change)),
    status,
    decidedById: principal.id,
    decidedBy: votes.length === 0 ? null : votes.map(({ name }) => name).join(', '),
    comment: votes.at(-1)?.comment ?? null,
  })
}

type Audit = (action: Extract<AuditAction, 'change_request.superseded'>, id: string, metadata: Metadata) => void

/** Closes open changes. They were encrypted with the former key of the environment, or are based on its versions. */
export async function supersedeAll(work: Work & { now: string; audit: Audit }, env: Env): Promise<void> {
  const told = new Set<string>()
  for (const change of await supersedeOpen(work.db, env, work.now)) {
    const { id, groupId, environmentId, secretName, action } = change
    work.audit('change_request.superseded', id, { environmentId, name: secretName, action })
    if (!told.has(groupId ?? id)) await tellDecided(work, change, 'superseded')
    told.add(groupId ?? id)
  }
}
