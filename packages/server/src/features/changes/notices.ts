import type { AuditAction } from '@skerry/contract/actions'
import type { Tx } from '../../db/database.ts'
import type { Emit } from '../../events/events.ts'
import type { Metadata } from '../../kernel/audit.ts'
import type { Principal } from '../../kernel/principal.ts'
import type { Env } from '../envs/scope.ts'
import { findEnvironmentSlug, type Proposed, type Status, supersedeOpen } from './store.ts'

interface Work {
  db: Tx
  principal: Principal
  emit: Emit
}

/** The facts of a change request in an event. A group is one event, which has the number of the other changes. */
export const factsOf = (change: Omit<Proposed, 'orgId' | 'action' | 'groupId'>, environment: string) => ({
  changeRequestId: change.id,
  environmentId: change.environmentId,
  environment,
  secretName: change.secretName,
  others: change.groupSize - 1,
  proposedByType: change.proposedByType,
  proposedById: change.proposedById,
})

export async function tellDecided({ db, principal, emit }: Work, change: Proposed, status: Status): Promise<void> {
  const environment = await findEnvironmentSlug(db, change)
  await emit('change_request.decided', { ...factsOf(change, environment), status, decidedById: principal.id })
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
