import type { AuditAction } from '@skerry/contract/audit-actions'
import type { Tx } from '../../db/database.ts'
import type { Context } from '../../kernel/context.ts'
import type { Origin } from '../../kernel/unit.ts'

declare module '../../kernel/context.ts' {
  interface Context {
    /** Of rotation/, which stands on environments. */
    environmentsEnded: EnvironmentsEnded
  }
}

/**
 * Ends what stood on environments that were deleted in this transaction, of one organization or, with null, of all. Each
 * place that deletes environments calls it, so that the entries name the cause; a job finds what nobody called it for.
 */
export type EnvironmentsEnded = (
  context: Context,
  db: Tx,
  origin: Origin,
  orgId: string | null,
  cause: { cause: AuditAction; causeId?: string },
) => Promise<void>
