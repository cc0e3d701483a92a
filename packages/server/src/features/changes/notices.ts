import type { AuditAction } from '@skerry/contract/actions'
import type { Tx } from '../../db/database.ts'
import type { Emit } from '../../events/events.ts'
import type { Metadata } from '../../kernel/audit.ts'
import type { Principal } from '../../kernel/principal.ts'
import { findEnvironmentLabel } from '../../model/environments/label.ts'
import { called } from '../../model/people/names.ts'
import type { Env } from '../envs/scope.ts'
import { listVotes, type Proposed, type Status, supersedeOpen } from './store.ts'

interface Work {
  db: Tx
  principal: Principal
  emit: Emit
}

/** The facts of a change request in an event. A group is one event, which has the number of the other changes. */
export const factsOf = (change: Omit<Proposed, 'orgId' | 'action' | 'groupId'>, label: string) => ({
  changeRequestId: change.id,
  environmentId: change.environmentId,
  environment: label,
  secretName: change.secretName,
  others: change.groupSize - 1,
  proposedByType: change.proposedByType,
  proposedById: change.proposedById,
})

/**
 * Tells the proposer of a decision. Nobody decides that a change is superseded, so that event has no names and no
 * comment.
 */
export async function tellDecided(work: Work, change: Proposed, status: Status, found?: string): Promise<void> {
  const { db, principal, emit } = work
  const label = found ?? (await findEnvironmentLabel(db, change.orgId, change.environmentId))
  const vote = ({ applied: 'approve', rejected: 'reject' } as const)[status as 'applied' | 'rejected']
  const votes = vote === undefined ? [] : await listVotes(db, change, vote)
  await emit('change_request.decided', {
    ...factsOf(change, label),
    status,
    decidedById: principal.id,
    decidedBy: votes.length === 0 ? null : votes.map(called).join(', '),
    comment: votes.at(-1)?.comment ?? null,
  })
}

type Audit = (action: Extract<AuditAction, 'change_request.superseded'>, id: string, metadata: Metadata) => void

/**
 * Closes open changes, except the re-key that is being applied. They were encrypted with the former key of the environment,
 * or are based on its versions.
 */
export async function supersedeAll(
  work: Work & { now: string; audit: Audit },
  env: Env,
  appliedId: string | null = null,
): Promise<void> {
  const told = new Set<string>()
  const label = await findEnvironmentLabel(work.db, env.orgId, env.id)
  for (const change of await supersedeOpen(work.db, env, work.now, appliedId)) {
    const { id, groupId, environmentId, secretName, action } = change
    work.audit('change_request.superseded', id, {
      environmentId,
      ...(secretName !== null && { name: secretName }),
      action,
    })
    if (!told.has(groupId ?? id)) await tellDecided(work, change, 'superseded', label)
    told.add(groupId ?? id)
  }
}
