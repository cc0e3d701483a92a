import { recordIn } from '../../kernel/audit.ts'
import type { EnvironmentsEnded } from '../../model/environments/hooks.ts'
import { deleteOrphans } from './store.ts'

/** Deletes the policies of deleted environments, and records each with its cause in the audit log. */
export const deleteOrphanedPolicies: EnvironmentsEnded = async (context, db, origin, orgId, cause) => {
  for (const { orgId: of, id, secretName, kind } of await deleteOrphans(db, orgId))
    recordIn(context, db, origin, {
      orgId: of,
      action: 'rotation.deleted',
      resourceId: id,
      metadata: { secretName, kind, ...cause },
    })
}
