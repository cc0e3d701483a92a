import type { AuditAction } from '@skerry/contract/actions'
import type { Tx } from '../../db/database.ts'
import type { Origin } from '../../kernel/audit.ts'
import type { KernelContext } from '../../kernel/context.ts'

/**
 * Ends everything that depends on environments that were deleted in this transaction: those of one organization or,
 * with null, of all. All code that deletes environments calls it, so that the audit entries name the cause. A job
 * cleans up after deletions that did not call it.
 */
export type EnvironmentsEnded = (
  context: KernelContext,
  db: Tx,
  origin: Origin,
  orgId: string | null,
  cause: { cause: AuditAction; causeId?: string },
) => Promise<void>
