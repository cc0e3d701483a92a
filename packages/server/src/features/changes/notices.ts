import type { AuditAction } from '@skerry/contract/audit-actions'
import type { Tx } from '../../db/database.ts'
import type { Context } from '../../kernel/context.ts'
import type { Principal } from '../../kernel/principal.ts'
import type { Metadata } from '../../kernel/unit.ts'
import type { Env } from '../envs/scope.ts'
import { notifyAdmins, notifyUser } from '../notifications/notify.ts'
import { type ChangeRow, findEnvironmentSlug, type Proposed, type Status, supersedeOpen } from './store.ts'

interface Work {
  context: Context
  db: Tx
  principal: Principal
}

/** Asks every admin for a review, but for whoever proposed the change. */
export async function tellAdmins({ context, db, principal }: Work, env: Env, { secretName }: ChangeRow): Promise<void> {
  const proposer = principal.type === 'user' ? principal.id : null
  const facts = { environment: env.slug, secretName }
  await notifyAdmins({ context, db, org: { id: env.orgId } }, 'change_request_opened', facts, proposer)
}

/** Tells a person what has become of what they proposed, unless they did that themselves. */
export async function tellProposer({ context, db, principal }: Work, change: Proposed, status: Status): Promise<void> {
  const { orgId, secretName, proposedByType, proposedById } = change
  if (proposedByType !== 'user' || proposedById === principal.id) return
  const environment = await findEnvironmentSlug(db, change)
  const facts = { environment, secretName, status }
  await notifyUser({ context, db, org: { id: orgId } }, proposedById, 'change_request_decided', facts)
}

type Audit = (action: Extract<AuditAction, 'change_request.superseded'>, id: string, metadata: Metadata) => void

/** What waits was sealed under a key that the environment no longer has, or proposed on versions that were. */
export async function supersedeAll(work: Work & { now: string; audit: Audit }, env: Env): Promise<void> {
  for (const change of await supersedeOpen(work.db, env, work.now)) {
    const { id, environmentId, secretName, action } = change
    work.audit('change_request.superseded', id, { environmentId, name: secretName, action })
    await tellProposer(work, change, 'superseded')
  }
}
