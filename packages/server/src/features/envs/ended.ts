import type { AuditAction } from '@skerry/contract/audit-actions'
import type { Tx } from '../../db/database.ts'
import type { Context } from '../../kernel/context.ts'
import { type Origin, recordIn } from '../../kernel/unit.ts'
import { deleteOrphans } from './store.ts'

/**
 * Removes the policies of environments that were deleted in this transaction, each with an entry that names the cause.
 * Called wherever environments are deleted; the job finds what nobody has called it for.
 */
export async function recordEnded(
  context: Context,
  db: Tx,
  origin: Origin,
  orgId: string | null,
  cause: { cause: AuditAction; causeId?: string },
): Promise<void> {
  for (const { orgId: of, id, secretName, kind } of await deleteOrphans(db, orgId))
    recordIn(context, db, origin, {
      orgId: of,
      action: 'rotation.deleted',
      resourceId: id,
      metadata: { secretName, kind, ...cause },
    })
}
