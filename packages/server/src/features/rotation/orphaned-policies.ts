import { recordIn } from '../../kernel/audit.ts'
import type { EnvironmentsEnded } from '../../model/environments/hooks.ts'
import { deleteOrphans } from './store.ts'

/** Removes the policies of environments that are gone, each with an entry that names the cause. */
export const deleteOrphanedPolicies: EnvironmentsEnded = async (context, db, origin, orgId, cause) => {
  for (const { orgId: of, id, secretName, kind } of await deleteOrphans(db, orgId))
    recordIn(context, db, origin, {
      orgId: of,
      action: 'rotation.deleted',
      resourceId: id,
      metadata: { secretName, kind, ...cause },
    })
}
