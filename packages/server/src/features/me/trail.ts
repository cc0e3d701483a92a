import type { AuditAction } from '@skerry/contract/audit-actions'
import type { Sql } from '../../db/database.ts'
import type { UserPrincipal } from '../../http/principal.ts'
import type { Entry, Metadata } from '../../http/unit.ts'
import { listOrgIds } from '../../identity/store.ts'

interface Input<A extends AuditAction> {
  db: Sql
  principal: UserPrincipal
  audit: (action: A, resourceId: string, metadata: Metadata, more: Pick<Entry, 'orgId'>) => void
}

/** Each organization's trail tells of its member; a person in none leaves an entry outside of all. */
export async function recordOfPerson<A extends AuditAction>(
  { db, principal, audit }: Input<A>,
  action: NoInfer<A>,
  resourceId: string,
  metadata: Metadata = {},
): Promise<void> {
  const orgIds = await listOrgIds(db, principal.id)
  for (const orgId of orgIds.length > 0 ? orgIds : [null]) audit(action, resourceId, metadata, { orgId })
}
