import type { Context } from '../../http/context.ts'
import { instant } from '../../http/context.ts'
import { system, unit } from '../../http/unit.ts'
import { deleteExpiredBranches } from './store.ts'

/** Tears down branches whose time is up, with their overrides, key grants and bound tokens. Until then no route shows them. */
export async function expireBranches(context: Context): Promise<number> {
  const expired = await unit(context, system, async (tx, record) => {
    const gone = await deleteExpiredBranches(tx, instant(context))
    for (const { orgId, id, slug, parentEnvironmentId, expiresAt } of gone)
      record({ orgId, action: 'branch.expired', resourceId: id, metadata: { slug, parentEnvironmentId, expiresAt } })
    return gone
  })
  return expired.length
}
