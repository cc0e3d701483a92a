import type { AuditAction } from '@skerry/contract/audit-actions'
import type { Tx } from '../../db/database.ts'
import type { Emit } from '../../events/events.ts'
import type { Principal } from '../../kernel/principal.ts'
import type { Metadata } from '../../kernel/unit.ts'
import type { Env } from '../envs/scope.ts'
import { findEnvironmentSlug, type Proposed, type Status, supersedeOpen } from './store.ts'

interface Work {
  db: Tx
  principal: Principal
  emit: Emit
}

/** What every event about a change request tells of it. */
export const factsOf = (change: Omit<Proposed, 'orgId' | 'action'>, environment: string) => ({
  changeRequestId: change.id,
  environmentId: change.environmentId,
  environment,
  secretName: change.secretName,
  proposedByType: change.proposedByType,
  proposedById: change.proposedById,
})

export async function tellDecided({ db, principal, emit }: Work, change: Proposed, status: Status): Promise<void> {
  const environment = await findEnvironmentSlug(db, change)
  await emit('change_request.decided', { ...factsOf(change, environment), status, decidedById: principal.id })
}

type Audit = (action: Extract<AuditAction, 'change_request.superseded'>, id: string, metadata: Metadata) => void

/** What waits was sealed under a key that the environment no longer has, or proposed on versions that were. */
export async function supersedeAll(work: Work & { now: string; audit: Audit }, env: Env): Promise<void> {
  for (const change of await supersedeOpen(work.db, env, work.now)) {
    const { id, environmentId, secretName, action } = change
    work.audit('change_request.superseded', id, { environmentId, name: secretName, action })
    await tellDecided(work, change, 'superseded')
  }
}
