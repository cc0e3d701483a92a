import type { AuditAction } from '@skerry/contract/actions'
import type { SecretChangeRequest } from '@skerry/contract/changes/schemas'
import type { IdKind } from '@skerry/contract/prefixes'
import type { Static } from 'typebox'
import type { Tx } from '../../db/database.ts'
import type { Emit } from '../../events/events.ts'
import type { Reply } from '../../http/route.ts'
import type { Metadata } from '../../kernel/audit.ts'
import type { Principal } from '../../kernel/principal.ts'
import type { Protection } from '../../model/environments/table.ts'
import type { Env } from '../envs/scope.ts'

/** The parts of a write request that a proposal needs. */
export interface ProposeInput {
  db: Tx
  principal: Principal
  headers: Record<string, string | string[] | undefined>
  now: string
  newId: (kind: IdKind) => string
  audit: (action: Extract<AuditAction, 'change_request.opened'>, resourceId: string, metadata: Metadata) => void
  emit: Emit
}

/**
 * A write that would succeed now. `on` is the current secret, or undefined if there is none with that name. A restore or
 * a deletion may be about a deleted secret.
 */
export type Proposal = { secretName: string; on: { id: string; currentVersion: number } | undefined } & (
  | { action: 'put'; ciphertext: string }
  | { action: 'restore'; restoreVersion: number; deletedSecretId?: string; ciphertext?: string }
  | { action: 'delete'; keepFor?: string; deletedSecretId?: string }
)

/** An environment that was found to be protected when access was checked. */
export type ProtectedEnv = Env & { protection: Protection }

/** Queues a write instead of doing it, under the protection settings of this moment. */
export type Propose = (
  request: ProposeInput,
  env: ProtectedEnv,
  proposal: Proposal,
) => Promise<Reply<{ queued: true; changeRequest: Static<typeof SecretChangeRequest> }>>
