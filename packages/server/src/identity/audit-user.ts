import type { AuditAction } from '@skerry/contract/actions'
import type { Sql } from '../db/database.ts'
import type { Entry, Metadata } from '../kernel/audit.ts'
import { listOrgIds } from './store.ts'

export type Audit<A extends AuditAction> = (
  action: A,
  resourceId: string,
  metadata?: Metadata,
  more?: Partial<Pick<Entry, 'orgId' | 'actor'>>,
) => void

/** Adds an audit entry to each organization of the person. Without an organization, the entry belongs to none. */
export async function auditUser<A extends AuditAction>(
  { db, audit }: { db: Sql; audit: Audit<A> },
  userId: string,
  action: A,
  resourceId: string,
  metadata: Metadata = {},
): Promise<void> {
  const orgIds = await listOrgIds(db, userId)
  const actor = { type: 'user', id: userId }
  for (const orgId of orgIds.length > 0 ? orgIds : [null]) audit(action, resourceId, metadata, { orgId, actor })
}
