import type { AuditAction } from '@skerry/contract/audit-actions'
import type { IdKind } from '@skerry/contract/prefixes'
import type { Tx } from '../../db/database.ts'
import type { Emit } from '../../events/events.ts'
import { Reply } from '../../http/route.ts'
import type { Principal } from '../../kernel/principal.ts'
import type { Metadata } from '../../kernel/unit.ts'
import type { Env, Protection } from '../envs/scope.ts'
import { noteFrom } from './note.ts'
import { factsOf } from './notices.ts'
import { type ChangeRow, insertChange } from './store.ts'

/** What a write of a secret brings along. */
interface Request {
  db: Tx
  principal: Principal
  headers: Record<string, string | string[] | undefined>
  now: string
  newId: (kind: IdKind) => string
  audit: (action: Extract<AuditAction, 'change_request.opened'>, resourceId: string, metadata: Metadata) => void
  emit: Emit
}

/** A write that would succeed now, on the secret as it is now: undefined where there is none of that name. */
export type Proposal = { secretName: string; on: { id: string; currentVersion: number } | undefined } & (
  | { action: 'put'; ciphertext: string }
  | { action: 'restore'; restoreVersion: number }
  | { action: 'delete' }
)

type Guarded = Env & { protection: Protection }

/** Queues a write instead of doing it, under the settings that protect the environment at this moment. */
export async function propose(
  request: Request,
  env: Guarded,
  proposal: Proposal,
): Promise<Reply<{ queued: true; changeRequest: ChangeRow }>> {
  const changeRequest = await queue(request, env, proposal)
  await request.emit('change_request.opened', factsOf(changeRequest, env.slug))
  return new Reply(202, { queued: true, changeRequest })
}

/** Queues several, which are decided together, and told of once. */
export async function proposeTogether(
  request: Request,
  env: Guarded,
  proposals: readonly [Proposal, ...Proposal[]],
): Promise<Reply<{ queued: true; groupId: string | null; changeRequests: ChangeRow[] }>> {
  const [proposal, ...others] = proposals
  const groupId = others.length === 0 ? null : request.newId('changeGroup')
  const group = { groupId, groupSize: proposals.length }
  const first = await queue(request, env, proposal, group)
  const changeRequests = [first]
  for (const other of others) changeRequests.push(await queue(request, env, other, group))
  await request.emit('change_request.opened', factsOf(first, env.slug))
  return new Reply(202, { queued: true, groupId, changeRequests })
}

const alone = { groupId: null, groupSize: 1 }

async function queue(
  { db, principal, headers, now, newId, audit }: Request,
  env: Guarded,
  proposal: Proposal,
  group: Pick<ChangeRow, 'groupId' | 'groupSize'> = alone,
): Promise<ChangeRow> {
  const { action, secretName, on } = proposal
  const changeRequest: ChangeRow = {
    id: newId('changeRequest'),
    environmentId: env.id,
    secretName,
    action,
    ciphertext: action === 'put' ? proposal.ciphertext : null,
    restoreVersion: action === 'restore' ? proposal.restoreVersion : null,
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
  await insertChange(db, env, { ...changeRequest, baseSecretId: on?.id ?? null })
  const { id, baseVersion, groupId } = changeRequest
  audit('change_request.opened', id, {
    environmentId: env.id,
    name: secretName,
    action,
    baseVersion,
    ...(action === 'restore' && { restoreVersion: proposal.restoreVersion }),
    ...(groupId !== null && { groupId }),
  })
  return changeRequest
}
