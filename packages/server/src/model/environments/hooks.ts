import type { AuditAction } from '@skerry/contract/actions'
import type { Tx } from '../../db/database.ts'
import type { Origin } from '../../kernel/audit.ts'
import type { KernelContext } from '../../kernel/context.ts'

/**
 * Ends what stood on environments that were deleted in this transaction, of one organization or, with null, of all. Each
 * place that deletes environments calls it, so that the entries name the cause; a job finds what nobody called it for.
 */
export type EnvironmentsEnded = (
  context: KernelContext,
  db: Tx,
  origin: Origin,
  orgId: string | null,
  cause: { cause: AuditAction; causeId?: string },
) => Promise<void>
